/** Renders a migration's status, companies and steps as lines, for the dashboard and `ferry watch`. */
import { actingText } from '../../domain/progress/acting-roles';
import { clientStateWords } from '../../domain/companies/company-state';
import { clientCounts } from '../../domain/companies/counts';
import { headline, pausedTexts, reopenedText, type Progress, type StepProgress } from '../../domain/progress/progress';
import { rateText } from '../../domain/planning/throughput';
import { continuationOf, continuationText, type Continuation } from '../../domain/progress/continuation';
import { recentRate, withLiveCounts, type Forecast } from '../../domain/progress/forecast';
import { ledgerBehindTask } from '../../domain/progress/ledger-behind';
import { taskForSupport } from '../../domain/progress/four-eyes';
import { STEP_RULES, stepNumber } from '../../domain/migration/steps';
import { isOver, stageOf } from '../../domain/migration/terminated';
import { counted, outOf } from '../../domain/text/sentences';
import type { Confirmers, Overview } from '../../store';
import {
  barText,
  fitted,
  textOf,
  truncated,
  widthOf,
  wrapped,
  type Span,
  type StyledLine,
} from '../terminal/styled-text';
import { inLocalTime, shortTime, shortDuration } from '../terminal/times';
import { shownForecast } from '../reporting/migration-end';
import { meanwhileText } from '../reporting/migration-summary';
import {
  isForWindow,
  NOT_PAUSED,
  windowsPausedText,
  withPausedWindows,
  type ScheduleFindings,
} from '../reporting/paused-windows';
import { approversText, stepRow, stepWords } from '../reporting/steps-table';

export interface MigrationSnapshot {
  readonly progress: Progress;
  readonly overview: Overview | null;
  /** The state of the Schedule that opens the windows. Default: not paused. */
  readonly schedule?: ScheduleFindings;
  /** The people whose keys support has to confirm. Default: none. */
  readonly keysToConfirm?: readonly string[];
  /** True if the ledger was restored to an older state, so that no company can move. Default: false. */
  readonly ledgerBehind?: boolean;
}

const BAR_WIDTH = 20;
const WAITING_LINES = 2;

/**
 * Returns lines with the current step, who paused the migration or reopened a step and why, who must act, since when,
 * and what to do, and that the windows are paused. While the ledger is behind, only support must act, to reconcile it.
 *
 * @param maxLines number of lines for each text; `Infinity` to cut nothing
 */
export function statusLines(
  { progress, schedule = NOT_PAUSED, keysToConfirm = [], ledgerBehind = false }: Omit<MigrationSnapshot, 'overview'>,
  columns: number,
  now: Date,
  maxLines = WAITING_LINES,
): readonly StyledLine[] {
  const { roles } = progress.waitingFor;
  const what = inLocalTime(taskForSupport(withPausedWindows(progress, schedule, now), now.toISOString()));
  const since = progress.waitingSince;
  const howLong =
    since === null ? '' : ` since ${shortTime(since, now)} (${shortDuration(now.getTime() - Date.parse(since))})`;
  const who = roles.length === 0 ? 'No action needed' : `Waiting for ${actingText(progress)}`;
  const style = roles.includes('support') ? 'yellow' : 'reset';
  const meanwhile = meanwhileText(progress, keysToConfirm);
  const windowsPaused = windowsPausedText(progress, schedule, now);
  const isWrong = windowsPaused !== null && isForWindow(progress, schedule, now);
  const reasons = [...pausedTexts(progress).map((text) => `Paused ${text}`), reopenedText(progress) ?? []].flat();
  const above = [
    [{ text: inLocalTime(headline(progress)), style: progress.state === 'paused' ? 'yellow' : 'bold' } as const],
    ...reasons.flatMap((reason) => wrapped(inLocalTime(reason), columns, maxLines)).map((text): StyledLine => [text]),
  ];
  if (ledgerBehind) {
    const task = `Waiting for support: ${ledgerBehindTask(progress.migrationId)}`;
    return [...above, ...wrapped(task, columns, maxLines).map((text): StyledLine => [{ text, style: 'yellow' }])];
  }
  return [
    ...above,
    ...(isWrong ? [] : wrapped(`${who}${howLong}: ${what}`, columns, maxLines)).map((text): StyledLine => [
      { text, style },
    ]),
    ...(meanwhile === null ? [] : wrapped(meanwhile, columns, maxLines)).map((text): StyledLine => [
      { text, style: 'yellow' },
    ]),
    ...(windowsPaused === null ? [] : wrapped(windowsPaused, columns, maxLines + 1)).map((text): StyledLine => [
      { text, style: 'yellow' },
    ]),
  ];
}

/** Returns a bar of the moved companies with the rate and the expected end, and the number of others in each state. */
export function companyLines(
  { progress, overview, schedule = NOT_PAUSED, ledgerBehind = false }: MigrationSnapshot,
  now: Date,
  columns = Infinity,
): readonly StyledLine[] {
  const { counts, state } = progress;
  const companies = clientCounts(counts, isOver(state));
  const replaced = replacedText(progress);
  const style = counts.failed > 0 ? 'red' : 'reset';
  const words = clientStateWords(stageOf(state));
  const rate = ledgerBehind ? null : recentRate(progress, overview ?? progress.throughput);
  const forecast = shownForecast(progress, { live: overview, ...schedule, ledgerBehind }, now);
  const continuation = forecast && continuationOf(withLiveCounts(progress, overview), forecast, now.toISOString());
  const hasEnded = isOver(state);
  const missing = hasEnded
    ? []
    : ([
        [counts.unconfirmed, 'without confirmation'],
        [counts.withoutCredential, 'without a usable credential'],
      ] as const);
  return [
    ...packed(
      [
        [
          { text: barText(counts.moved, counts.total, BAR_WIDTH), style: 'green' },
          counts.total === 0 ? ' no companies yet' : ` ${outOf(counts.moved, counts.total, 'company')} moved`,
        ],
        ...(rate === null ? [] : [[`, ${rateText(rate)} a minute`]]),
        [endText(forecast, now)],
        [continuesText(continuation, now)],
      ],
      columns,
    ),
    ...packed(
      [
        [`${companies.moving} ${words.moving}`],
        ...(hasEnded ? [] : [[`, ${companies['not-moved-yet']} not moved yet`]]),
        [', ', { text: `${companies['must-reconnect']} must reconnect`, style }],
        [', ', { text: `${companies['not-moved']} not moved`, style }],
        [`, ${companies['left-out']} left out`],
        ...missing.filter(([count]) => count > 0).map(([count, what]) => [`; ${count} ${what}`]),
        ...(replaced === null ? [] : [['; ', { text: replaced, style: 'red' } as const]]),
      ],
      columns,
    ),
  ];
}

/** Returns how many companies depend on an application that was replaced; null if there are none. */
export function replacedText({ replacedApplication = 0 }: Progress): string | null {
  return replacedApplication === 0 ? null : `${counted(replacedApplication, 'company')} with a replaced application`;
}

/** Puts parts, each with its separator in front, on as few lines as possible, without cutting a part. */
function packed(parts: readonly StyledLine[], columns: number): readonly StyledLine[] {
  const lines: Span[][] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line && widthOf([...line, ...part].map(textOf).join('')) <= columns) line.push(...part);
    else lines.push(line ? withoutSeparator(part) : [...part]);
  }
  return lines;
}

function withoutSeparator([first = '', ...rest]: StyledLine): Span[] {
  return [typeof first === 'string' ? first.replace(/^[,;] /, '') : first, ...rest];
}

/**
 * Returns the latest end as text; empty if there is none. If the forecast does not cover every open company, the text
 * says how many companies it covers.
 */
function endText(forecast: Forecast | null, now: Date): string {
  if (!forecast?.ends) return '';
  const by = shortTime(forecast.ends.latest, now);
  if (!forecast.isComplete) return `, ${forecast.companies.toLocaleString('en-US')} more by ${by}`;
  return forecast.basis === 'throughput' ? `, ends about ${by}` : `, ends by ${by}`;
}

/** Returns when moves continue in a later window; empty if they do not. */
export const continuesText = (continuation: Continuation | null, now: Date): string =>
  continuationText(continuation, (iso) => shortTime(iso, now));

const MARKS = { done: { text: '✓', style: 'green' }, open: { text: '●', style: 'yellow' }, later: '·' } as const;
const TITLE_WIDTH = 28;
const STATE_WIDTH = 22;

/**
 * Returns one line per step; no lines for a self-service migration, which has no visible steps.
 *
 * @param confirmers the people who have confirmed that syncing is off; null if they are not known
 */
export function stepLines(
  { route, state, steps }: Progress,
  confirmers: Confirmers | null,
  columns: number,
  now: Date,
): readonly StyledLine[] {
  const hasEnded = isOver(state);
  return route === 'self-service' ? [] : steps.map((step) => stepLine(step, confirmers, hasEnded, columns, now));
}

function stepLine(
  progress: StepProgress,
  confirmers: Confirmers | null,
  hasEnded: boolean,
  columns: number,
  now: Date,
): StyledLine {
  const { step, state, openedAt, endedAt } = progress;
  const title = `${stepNumber(step)} ${STEP_RULES[step].title}`;
  const words = stepWords(hasEnded);
  // The step in which the migration ended has no time: its opening time beside `ended here` would look like the end.
  const at = state === 'done' ? endedAt : hasEnded ? null : openedAt;
  const when = state === 'later' || at === null ? '' : ` ${state === 'open' ? 'since ' : ''}${shortTime(at, now)}`;
  const room = columns - TITLE_WIDTH - STATE_WIDTH - 2;
  const approved = truncated(approversText(stepRow(progress, confirmers)), room);
  return [MARKS[state], ` ${fitted(title, TITLE_WIDTH)}`, fitted(words[state] + when, STATE_WIDTH), approved];
}
