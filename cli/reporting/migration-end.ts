/** Prints the start, the windows, the limits and the expected end of a migration. */
import { countOpen } from '../../domain/companies/counts';
import { isOver } from '../../domain/migration/terminated';
import { stepNumber } from '../../domain/migration/steps';
import type { Estimate } from '../../domain/planning/estimate';
import { mainLimitsText, shownWindows } from '../../domain/planning/limit-texts';
import type { MigrationLimits } from '../../domain/planning/limits';
import { rateText } from '../../domain/planning/throughput';
import { continuationOf, continuationText } from '../../domain/progress/continuation';
import {
  isStaleFromStart,
  longestStaleText,
  recentRate,
  remainingWork,
  withLiveCounts,
  type Forecast,
  type LiveFigures,
} from '../../domain/progress/forecast';
import { forecastWhilePaused, knownForecast } from '../../domain/progress/paused-forecast';
import type { Progress } from '../../domain/progress/progress';
import { counted, duration, spanText } from '../../domain/text/sentences';
import { printFirstOpening } from '../options/start-times';
import type { Output } from '../terminal/output';
import { localTime, shortTime } from '../terminal/times';

/** The findings from which the expected end follows. */
export interface ForecastFindings {
  /** The ledger's current figures. Null unless a ledger contains companies of the migration. */
  readonly live: LiveFigures | null;
  /** In step 6, who paused the windows, and why; null if the windows are not paused, or no company is left to move. */
  readonly windowsPaused: string | null;
  /** True if the windows are paused and a batch run is in progress. */
  readonly isBatchRunning: boolean;
  /** True if the ledger was restored to an older state, so that no company can move. Default: false. */
  readonly ledgerBehind?: boolean;
}

/**
 * Returns the forecast. While the windows are paused, it has no end that needs a further window. Null while the ledger
 * is behind.
 */
export function shownForecast(
  progress: Progress,
  { live, windowsPaused, isBatchRunning, ledgerBehind = false }: ForecastFindings,
  now: Date,
): Forecast | null {
  if (ledgerBehind) return null;
  const at = now.toISOString();
  const forecast = knownForecast(progress, live, at);
  if (forecast === null || windowsPaused === null) return forecast;
  return forecastWhilePaused(withLiveCounts(progress, live), forecast, isBatchRunning, at);
}

/**
 * Prints the proposed start (only before step 6), the windows, how long the moves take, and when they are expected to
 * end. Prints only the start and the windows while the ledger is behind.
 */
export function printEnd(output: Output, progress: Progress, found: ForecastFindings, now: Date): void {
  const current = withLiveCounts(progress, found.live);
  const { proposal, throughput, estimate, step, state, counts, windows } = progress;
  if (proposal && step !== 'complete-migration' && !isOver(state)) {
    output.line(`Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
  }
  if (windows.length > 0 && countOpen(counts) > 0 && !isOver(state)) output.line(`Windows: ${shownWindows(windows)}`);
  if (found.ledgerBehind) return;
  printFirstOpening(output, current, now.toISOString());
  const forecast = shownForecast(progress, found, now);
  const end = forecast?.ends ? endText(current, forecast, now) : null;
  const rate = recentRate(progress, found.live ?? throughput);
  if (forecast?.basis === 'throughput' && rate !== null) {
    return output.line(`Rate: ${[`${rateText(rate)} a minute`, end ?? []].flat().join(', ')}`);
  }
  const work = remainingWork(current);
  if (work === null || estimate === null) return;
  const [low, high] = [duration(work.lowMs), duration(work.highMs)];
  const range = low === high ? high : `${low} to ${high}`;
  output.line(`Estimate: ${range} for ${counted(work.companies, 'company')} (${BASIS[estimate.basis]})`);
  if (end !== null) output.line(`  ${end}`);
  const { largestFamily } = estimate.volume;
  if (largestFamily > 1)
    output.line(
      `  companies that share a token family are moved one at a time; the largest family has ${counted(largestFamily, 'company')}`,
    );
}

/** Prints the limits in effect. Prints nothing before moves can begin, and once no company is left to move. */
export function printLimits(output: Output, progress: Progress, limits: MigrationLimits): void {
  if (areLimitsShown(progress)) output.line(`Limits: ${mainLimitsText(limits)}`);
}

function areLimitsShown({ route, step, state, counts }: Progress): boolean {
  const hasMoves = route === 'self-service' || stepNumber(step) > stepNumber('disable-syncing');
  return hasMoves && countOpen(counts) > 0 && !isOver(state);
}

const BASIS = {
  assumed: 'not measured yet',
  platform: 'as in earlier migrations',
  migration: 'as measured',
} as const satisfies Record<Estimate['basis'], string>;

function endText(progress: Progress, forecast: Forecast, now: Date): string | null {
  const { ends, staleMs, isComplete, companies } = forecast;
  if (ends === null) return null;
  const [earliest, latest] = [shortTime(ends.earliest, now), shortTime(ends.latest, now)];
  const when = spanText(earliest, latest);
  const at = now.toISOString();
  // If data is out of date from the start on, this time also tells how long the migration takes. An 80x24 terminal has
  // no room to call it both.
  const what = isStaleFromStart(progress, at) ? '' : 'data out of date for ';
  const stale = staleMs === null ? '' : `, ${what}${longestStaleText(progress, staleMs, at)}`;
  const continues = continuationText(continuationOf(progress, forecast, at), (iso) => shortTime(iso, now));
  const end = isComplete
    ? `ends ${when}${stale}`
    : `${companies === 1 ? 'the next move ends' : `the next ${counted(companies, 'move')} end`} ${when}`;
  return end + continues;
}
