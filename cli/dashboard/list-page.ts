/** Lists all open migrations, one per line, and shows what the selected one is waiting for. */
import { rateText } from '../../domain/planning/throughput';
import { actingText } from '../../domain/progress/acting-roles';
import { ledgerBehindTask } from '../../domain/progress/ledger-behind';
import { taskForSupport } from '../../domain/progress/four-eyes';
import { continuationOf } from '../../domain/progress/continuation';
import { recentRate, withLiveCounts, type Forecast } from '../../domain/progress/forecast';
import { knownForecast } from '../../domain/progress/paused-forecast';
import { isStep, stepNumber, STEPS } from '../../domain/migration/steps';
import { pausesIn } from '../../domain/progress/progress';
import { meanwhileText } from '../reporting/migration-summary';
import type { Size } from '../terminal/full-screen';
import {
  barText,
  fitted,
  textOf,
  widthOf,
  wrapped,
  type StyledLine,
  type Span,
  type Style,
} from '../terminal/styled-text';
import { inLocalTime, shortTime, shortDuration } from '../terminal/times';
import { continuesText, replacedText } from './migration-lines';
import {
  actingRolesText,
  visibleRows,
  selectedRow,
  statusGroup,
  type Page,
  type DashboardRow,
  type DashboardState,
  type StatusGroup,
} from './state';

/** Number of lines around the rows: the titles above, and an empty line and the sentence below. */
const OTHER_LINES = 4;
const SENTENCE_LINES = 2;

export function listHeight(rows: number): number {
  return Math.max(1, rows - OTHER_LINES);
}

export function listPage(state: DashboardState, { columns, rows }: Size, now: Date): Page {
  const visible = visibleRows(state, listHeight(rows));
  const layout = layoutFor(state.rows ?? [], columns);
  return {
    title: titleOf(state.rows),
    lines: [
      titleLine(layout),
      ...Array.from({ length: listHeight(rows) }, (_, index) => {
        const row = visible[index];
        return row ? rowLine(row, layout, row.migrationId === state.selected, now) : [];
      }),
      [],
      ...sentence(state, columns, now),
    ],
    keys: [
      ['↑↓', 'select'],
      ['Enter', 'open'],
      ['a', 'approve'],
      ['x', 'reject'],
      ['p', selectedRow(state)?.state === 'paused' ? 'resume' : 'pause'],
      ['r', 'retry'],
      ['?', 'help'],
      ['q', 'quit'],
    ],
  };
}

function titleOf(rows: DashboardState['rows']): StyledLine {
  const bold = { text: 'Ferry dashboard', style: 'bold' } as const;
  if (rows === null) return [bold];
  const count = (group: StatusGroup): number => rows.filter((row) => statusGroup(row) === group).length;
  const running = rows.filter((row) => statusGroup(row) === 'running');
  const onHold = running.filter(({ progress }) => progress?.outage).length;
  const held = onHold === 0 ? '' : `, on hold ${onHold}`;
  // Only the progress says whether a migration is on hold, and it is read only for the rows that were visible.
  const isKnown = running.every(({ progress }) => progress !== null);
  const runningText = isKnown ? `running ${running.length - onHold}${held}` : `running or on hold ${running.length}`;
  const groups = `support ${count('support')}, ${runningText}, client ${count('client')}`;
  return [bold, `  ${rows.length} open: ${groups}`];
}

/** The widths of the flexible columns. Spare room goes first to the id, then to the bar. */
interface Layout {
  readonly id: number;
  readonly bar: number;
  readonly moved: number;
}

const WIDTHS = { mark: 2, step: 4, waits: 12, rate: 5, end: 9, exceptions: 4 } as const;
const GAP = 1;
const GAPS = 7 * GAP;
const BAR = { min: 5, max: 24 } as const;
const MIN_ID = 14;

function layoutFor(rows: readonly DashboardRow[], columns: number): Layout {
  const moved = Math.max('Moved'.length, ...rows.map((row) => movedOf(row).text.length));
  const left = columns - GAPS - moved - Object.values(WIDTHS).reduce((sum, width) => sum + width, 0);
  const longest = Math.max('Migration'.length, ...rows.map(({ migrationId }) => widthOf(migrationId)));
  const id = Math.max(MIN_ID, Math.min(longest, left - BAR.min));
  return { moved, id, bar: Math.max(BAR.min, Math.min(BAR.max, left - id)) };
}

/**
 * Returns the ledger's counts if they have been read, or else the counts that the workflow reported in the state that
 * the row shows. Temporal's counts in the list do not distinguish companies that were left out from moved companies, so
 * they only show that no company has moved yet. Otherwise, `moved` is null.
 */
function movedOf({ overview, progress, state, step, done, failed, total }: DashboardRow) {
  const isCurrent = progress?.state === state && (progress.step === step || progress.route === step);
  const counts = overview
    ? { moved: overview.movedInAll, total: overview.total }
    : isCurrent
      ? progress.counts
      : { moved: done > failed ? null : 0, total };
  return { moved: counts.moved, total: counts.total, text: `${counts.moved ?? '?'}/${counts.total}` };
}

function titleLine(layout: Layout): StyledLine {
  const titles = cellsOf(layout, {
    mark: '',
    id: 'Migration',
    step: 'Step',
    waits: 'Waiting for',
    bar: '',
    moved: 'Moved',
    rate: '/min',
    end: 'Ends',
    exceptions: 'Exc.',
  });
  return [{ text: titles.map(textOf).join(''), style: 'bold' }];
}

type Cells = Readonly<Record<keyof typeof WIDTHS | keyof Layout, Span>>;

function cellsOf(layout: Layout, cells: Cells): Span[] {
  const right = (span: Span, width: number): Span => sized(span, width + GAP, 'right');
  const left = (span: Span, width: number): Span => sized(span, width, 'left');
  return [
    left(cells.mark, WIDTHS.mark),
    left(cells.id, layout.id),
    right(cells.step, WIDTHS.step),
    ' ',
    left(cells.waits, WIDTHS.waits),
    ' ',
    left(cells.bar, layout.bar),
    right(cells.moved, layout.moved),
    right(cells.rate, WIDTHS.rate),
    right(cells.end, WIDTHS.end),
    right(cells.exceptions, WIDTHS.exceptions),
  ];
}

function sized(span: Span, width: number, align: 'left' | 'right'): Span {
  return typeof span === 'string' ? fitted(span, width, align) : { ...span, text: fitted(span.text, width, align) };
}

function rowLine(row: DashboardRow, layout: Layout, isSelected: boolean, now: Date): StyledLine {
  const { migrationId, step, overview } = row;
  const { moved, total, text } = movedOf(row);
  const rate = row.progress && row.state === 'running' && !row.ledgerBehind ? recentRate(row.progress, overview) : null;
  // Once the workflow has ended, `failed` also counts all companies that were still waiting. Of these, `exceptions`
  // counts only those that were deferred or held back.
  const exceptions = row.endedInTemporal ? row.failed : (overview?.exceptions ?? row.failed);
  const end = rowForecast(row, now)?.ends?.latest;
  const line = cellsOf(layout, {
    mark: isSelected ? '▸' : '',
    id: migrationId,
    step: isStep(step) ? `${stepNumber(step)}/${STEPS.length}` : 'self',
    waits: waitingForCell(row, now),
    bar: moved === null ? '' : barText(moved, total, layout.bar),
    moved: text,
    rate: rate === null ? '' : rateText(rate),
    end: end === undefined ? '' : shortTime(end, now),
    exceptions: exceptions === 0 ? '' : { text: String(exceptions), style: 'red' },
  });
  if (!isSelected) return line;
  return [{ text: line.map(textOf).join(''), style: 'inverse' }];
}

function waitingForCell(row: DashboardRow, now: Date): Span {
  const { state, progress, endedInTemporal } = row;
  // While paused, counts from the pause, because `waitingSince` begins again with each step, but the pause goes on.
  const [pausedAt] = progress
    ? pausesIn(progress)
        .map(({ at }) => at)
        .sort()
    : [];
  const from = pausedAt ?? progress?.waitingSince ?? null;
  const since = from === null ? '' : ` ${shortDuration(now.getTime() - Date.parse(from))}`;
  const cell = (who: string, style: Style): Span => ({ text: who + since, style });
  if (endedInTemporal) return { text: 'terminated', style: 'red' };
  if (row.ledgerBehind) return { text: 'old ledger', style: 'red' };
  if (state === 'paused') return cell('paused', 'yellow');
  if (progress?.outage) return { text: 'on hold', style: 'red' };
  switch (actingRolesText(row)) {
    case 'support':
      return cell('support', 'yellow');
    case 'client and support':
    case 'support and client':
      return cell('both', 'yellow');
    case 'client':
      return cell('client', 'cyan');
    default:
      return { text: 'running', style: 'green' };
  }
}

function rowForecast({ state, progress, overview, ledgerBehind }: DashboardRow, now: Date): Forecast | null {
  if (progress === null || state === 'paused' || ledgerBehind) return null;
  return knownForecast(progress, overview, now.toISOString());
}

/** Says when moves continue in a later window, because the column `Ends` has no room for that; empty if they do not. */
function continuesOf(row: DashboardRow, now: Date): string {
  const { progress, overview } = row;
  const forecast = rowForecast(row, now);
  if (progress === null || forecast === null) return '';
  return continuesText(continuationOf(withLiveCounts(progress, overview), forecast, now.toISOString()), now);
}

function sentence(state: DashboardState, columns: number, now: Date): readonly StyledLine[] {
  if (state.rows?.length === 0)
    return [[{ text: 'No migration is open. To start a migration, run: ferry start', style: 'dim' }]];
  const row = selectedRow(state);
  if (!row?.progress) return [];
  const inLines = (text: string) =>
    wrapped(`${row.migrationId}: ${text}`, columns, SENTENCE_LINES).map((line) => [line]);
  if (row.ledgerBehind) return inLines(`support: ${ledgerBehindTask(row.migrationId)}`);
  const roles = actingText(row.progress);
  const who = roles === '' ? '' : `${roles}: `;
  const what = inLocalTime(taskForSupport(row.progress, now.toISOString()));
  const meanwhile = meanwhileText(row.progress, row.keysToConfirm ?? []);
  const also = meanwhile === null ? '' : `. ${meanwhile}`;
  const replaced = replacedText(row.progress);
  const continues = continuesOf(row, now).replace(/^; /, '');
  // These come before the task, because a task that is longer than the lines is cut.
  const first = [replaced ?? '', continues].filter((text) => text !== '').map((text) => `${text}; `);
  return inLines(`${first.join('')}${who}${what}${also}`);
}
