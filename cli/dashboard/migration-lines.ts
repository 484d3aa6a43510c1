/** A migration in lines: where it is, how its companies do, its steps. What the desk and `ferry watch` share. */
import { movableCompanies, finishedCompanies } from '../../domain/companies/company-state';
import { headline } from '../../domain/progress/headline';
import { expectedEnd, perMinute, rateText } from '../../domain/planning/throughput';
import { isEnding } from '../../domain/migration/migration-state';
import type { Progress, StepProgress } from '../../domain/progress/progress';
import { STEP_RULES, stepNumber } from '../../domain/migration/steps';
import { counted } from '../../domain/text/sentences';
import type { Overview } from '../../store';
import type { Line } from '../terminal/line';
import { bar, filled, wrapped } from '../terminal/line';
import { nearTime, spanOfTime } from '../terminal/times';

/** What was read of a migration. */
export interface Seen {
  readonly progress: Progress;
  readonly overview: Overview | null;
}

const BAR_WIDTH = 20;
const WAITING_LINES = 2;

/** Which step it is in, who is waited for since when, and for what. */
export function whereLines(progress: Progress, columns: number, now: Date): readonly Line[] {
  const { roles, what } = progress.waitingFor;
  const since = progress.waitingSince;
  const who = roles.length === 0 ? 'nobody' : roles.join(' and ');
  const forLong =
    since === null ? '' : ` since ${nearTime(since, now)} (${spanOfTime(now.getTime() - Date.parse(since))})`;
  const style = roles.includes('support') ? 'yellow' : 'reset';
  return [
    [{ text: headline(progress), style: progress.state === 'paused' ? 'yellow' : 'bold' }],
    ...wrapped(`Waiting for ${who}${forLong}: ${what}`, columns, WAITING_LINES).map((text): Line => [{ text, style }]),
  ];
}

/** A bar with the rate and the expected end, and how many companies are where. */
export function companiesLines({ progress, overview }: Seen, now: Date): readonly Line[] {
  const { counts, state } = progress;
  const done = finishedCompanies(counts);
  const rate = overview && state === 'running' ? perMinute(overview) : null;
  const end = endOf(progress, overview, now);
  const lacking = [
    [counts.unconfirmed, 'unconfirmed'],
    [counts.withoutCredential, 'without credential'],
  ] as const;
  return [
    [
      { text: bar(done, counts.total, BAR_WIDTH), style: 'green' },
      ` ${done} of ${counted(counts.total, 'company')} done`,
      rate === null ? '' : `, ${rateText(rate)} a minute`,
      end === null ? '' : `, ends about ${nearTime(end, now)}`,
    ],
    [
      `${counts.migrated} moved, ${counts.importing + counts.syncing} under way, ${counts.waiting} waiting, `,
      { text: `${counts.failed} failed`, style: counts.failed > 0 ? 'red' : 'reset' },
      `, ${counts.skipped + counts.excluded} left out`,
      ...lacking.filter(([count]) => count > 0).map(([count, what]) => `; ${count} ${what}`),
    ],
  ];
}

function endOf({ counts, windows, estimate, proposal, state }: Progress, overview: Seen['overview'], now: Date) {
  const left = movableCompanies(counts);
  if (left === 0 || isEnding(state)) return null;
  const at = now.toISOString();
  const estimated = proposal ? (estimate?.ends?.latest ?? '') : '';
  const atThisRate = overview && state === 'running' ? expectedEnd(overview, left, windows, at) : null;
  // An estimate that has not come true is none.
  return atThisRate ?? (estimated > at ? estimated : null);
}

const MARKS = { done: { text: '✓', style: 'green' }, open: { text: '●', style: 'yellow' }, later: '·' } as const;
const TITLE_WIDTH = 28;
const STATE_WIDTH = 22;

/** The six steps; none in the self-service route, which has no steps that people know. */
export function stepLines({ route, steps }: Progress, now: Date): readonly Line[] {
  return route === 'self-service' ? [] : steps.map((step) => stepLine(step, now));
}

function stepLine({ step, state, openedAt, endedAt, approvals }: StepProgress, now: Date): Line {
  const title = `${stepNumber(step)} ${STEP_RULES[step].title}`;
  const at = state === 'done' ? endedAt : openedAt;
  const when = state === 'later' || at === null ? '' : ` ${state === 'open' ? 'since ' : ''}${nearTime(at, now)}`;
  const approved = approvals.map(({ role, by }) => `${by} (${role})`).join(', ');
  return [MARKS[state], ` ${filled(title, TITLE_WIDTH)}`, filled(state + when, STATE_WIDTH), approved];
}
