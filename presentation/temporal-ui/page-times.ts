/** The times on the migration's page in the Temporal UI: when moves start and end, or how long they take. */
import { countOpen } from '../../domain/companies/counts';
import { isEnding } from '../../domain/migration/migration-state';
import { farStartText } from '../../domain/progress/first-opening';
import { continuationOf, continuationText } from '../../domain/progress/continuation';
import { remainingWork, type Forecast } from '../../domain/progress/forecast';
import { knownForecast } from '../../domain/progress/paused-forecast';
import { duration, momentText, counted, rangeText } from '../../domain/text/sentences';
import type { Progress } from '../../domain/progress/progress';
import { coveredText, deadlineText, estimateBasisText, forecastBasisText, openingText } from '../wording/client-page';
import { windowsText } from '../wording/windows';
import { MAX_NAME_LENGTH, MAX_TEXT_LENGTH, untrustedText } from './page-parts';

/**
 * Returns when the moves start and end, or how long they take. Shows no time that has passed. People read the page
 * after it was written, so if the end is near, the text says how much time was left, and when that was true.
 */
export function timesText(progress: Progress, now: string): string[] {
  const { estimate } = progress;
  const forecast = knownForecast(progress, null, now);
  const work = remainingWork(progress);
  if (forecast?.ends) {
    const { beginsAt, ends } = forecast;
    const what = coveredText(forecast, progress.counts);
    const continues = continuationText(continuationOf(progress, forecast, now), momentText);
    const why = forecastBasisText(forecast, estimate);
    if (beginsAt === null) return [leftText(ends, now, `${what}, ${why}`) + continues];
    const end = endText(momentText(ends.earliest), momentText(ends.latest));
    const isKnown = progress.step !== 'schedule' && progress.proposal?.startAt === beginsAt;
    const begins = progress.step === 'complete-migration' ? 'continues' : 'starts';
    const plan = `**Plan:** ${begins} at ${momentText(beginsAt)} and ${end} (${what}, ${why})${continues}`;
    return isKnown ? [plan] : [plan, ...startText(progress, now)];
  }
  if (!work || !estimate) return startText(progress, now);
  const { companies, lowMs, highMs } = work;
  const what = `${counted(companies, 'company')}, ${estimateBasisText(estimate)}`;
  return [`**Estimated duration:** ${durationRange(lowMs, highMs)} (${what})`, ...startText(progress, now)];
}

/** Returns when moves can begin; empty if they can begin at any time, or if no more moves will begin. */
export function windowsLine({ state, windows, counts }: Progress): string[] {
  if (isEnding(state) || windows.length === 0 || (counts.total > 0 && countOpen(counts) === 0)) return [];
  return [`**Windows:** moves begin only ${untrustedText(windowsText(windows), MAX_TEXT_LENGTH)}`];
}

/** Returns the migration's deadline; empty if it has none. */
export function deadlineLine(progress: Progress, now: string): string[] {
  const deadline = deadlineText(progress, now);
  return deadline === null ? [] : [`**Deadline:** ${deadline}`];
}

const HOUR_MS = 3_600_000;

/** An end that is further away than this is shown as a time, and a nearer end as the time left. */
const NEAR_MS = HOUR_MS;

function leftText(ends: NonNullable<Forecast['ends']>, now: string, what: string): string {
  const asOf = `as of ${momentText(now)}`;
  const [lowMs, highMs] = [ends.earliest, ends.latest].map((end) => Date.parse(end) - Date.parse(now));
  if (lowMs === undefined || highMs === undefined || lowMs > NEAR_MS) {
    return `**Expected end:** ${endText(momentText(ends.earliest), momentText(ends.latest))}, ${asOf} (${what})`;
  }
  return `**Time left:** ${durationRange(lowMs, highMs)}, ${asOf} (${what})`;
}

function durationRange(lowMs: number, highMs: number): string {
  return rangeText(duration(lowMs), duration(highMs));
}

function startText(progress: Progress, now: string): string[] {
  const { state, step, proposal, firstCompany } = progress;
  const hasBegun = isEnding(state) || step === 'complete-migration' || firstCompany !== null;
  if (proposal === null || hasBegun) return [];
  const when = proposal.startAt > now ? momentText(proposal.startAt) : 'as soon as everything is ready';
  const lines = [`**Start:** ${when}, proposed by ${untrustedText(proposal.by, MAX_NAME_LENGTH)} (${proposal.role})`];
  const opening = openingText(progress, now);
  const farAway = farStartText(progress, now);
  return [
    ...lines,
    ...(farAway === null ? [] : [`**Warning:** ${farAway}`]),
    ...(opening === null ? [] : [`**${opening.why}:** ${opening.text}`]),
  ];
}

/** Returns when the migration is expected to end. The caller formats the two times. */
export function endText(earliest: string, latest: string): string {
  return earliest === latest ? `ends at ${latest}` : `ends between ${earliest} and ${latest}`;
}
