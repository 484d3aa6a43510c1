/** All open migrations, one in a line, and what is waited for in the one that is selected. */
import { expectedEnd, perMinute, rateText } from '../../domain/planning/throughput';
import { isStep, stepNumber, STEPS } from '../../domain/migration/steps';
import type { Size } from '../terminal/full-screen';
import type { Line, Span } from '../terminal/line';
import { bar, filled, textOf, widthOf, wrapped } from '../terminal/line';
import type { Style } from '../terminal/table';
import { nearTime, spanOfTime } from '../terminal/times';
import type { Page } from './page';
import type { DashboardRow, DashboardState } from './state';
import { inSight, selectedRow, urgency } from './state';

/** The titles above the rows; an empty line and the sentence below them. */
const AROUND_ROWS = 4;
const SENTENCE_LINES = 2;

export function listHeight(rows: number): number {
  return Math.max(1, rows - AROUND_ROWS);
}

export function listPage(state: DashboardState, { columns, rows }: Size, now: Date): Page {
  const seen = inSight(state, listHeight(rows));
  const layout = layoutFor(state.rows ?? [], columns);
  return {
    title: titleOf(state.rows),
    lines: [
      titleLine(layout),
      ...Array.from({ length: listHeight(rows) }, (_, index) => {
        const row = seen[index];
        return row ? rowLine(row, layout, row.migrationId === state.selected, now) : [];
      }),
      [],
      ...sentence(state, columns),
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

function titleOf(rows: DashboardState['rows']): Line {
  const bold = { text: 'Ferry desk', style: 'bold' } as const;
  if (rows === null) return [bold];
  const [support = 0, moving = 0, client = 0] = [0, 1, 2].map(
    (wanted) => rows.filter((row) => urgency(row) === wanted).length,
  );
  return [bold, `  ${rows.length} open: ${support} for support, ${moving} at work, ${client} for the client`];
}

/** How wide the columns are whose width depends; what is to spare goes to the id, then to the bar. */
interface Layout {
  readonly id: number;
  readonly bar: number;
  readonly done: number;
}

const WIDTHS = { mark: 2, step: 4, waits: 11, rate: 5, end: 9, exceptions: 4 } as const;
const GAP = 1;
const GAPS = 7 * GAP;
const BAR = { least: 5, most: 24 } as const;
const LEAST_ID = 14;

function layoutFor(rows: readonly DashboardRow[], columns: number): Layout {
  const done = Math.max('Done'.length, ...rows.map((row) => doneOf(row).text.length));
  const left = columns - GAPS - done - Object.values(WIDTHS).reduce((sum, width) => sum + width, 0);
  const wanted = Math.max('Migration'.length, ...rows.map(({ migrationId }) => widthOf(migrationId)));
  const id = Math.max(LEAST_ID, Math.min(wanted, left - BAR.least));
  return { done, id, bar: Math.max(BAR.least, Math.min(BAR.most, left - id)) };
}

/** The ledger's counts where they were read: those of the list are up to a minute older. */
function doneOf({ overview, done, total }: DashboardRow): {
  readonly done: number;
  readonly total: number;
  readonly text: string;
} {
  const counts = overview ?? { done, total };
  return { ...counts, text: `${counts.done}/${counts.total}` };
}

function titleLine(layout: Layout): Line {
  const titles = cellsOf(layout, {
    mark: '',
    id: 'Migration',
    step: 'Step',
    waits: 'Waits for',
    bar: '',
    done: 'Done',
    rate: '/min',
    end: 'Ends',
    exceptions: 'Exc.',
  });
  return [{ text: titles.map(textOf).join(''), style: 'bold' }];
}

type Cells = Readonly<Record<keyof typeof WIDTHS | keyof Layout, Span>>;

/** The spans of a line, each as wide as its column. */
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
    right(cells.done, layout.done),
    right(cells.rate, WIDTHS.rate),
    right(cells.end, WIDTHS.end),
    right(cells.exceptions, WIDTHS.exceptions),
  ];
}

function sized(span: Span, width: number, align: 'left' | 'right'): Span {
  return typeof span === 'string' ? filled(span, width, align) : { ...span, text: filled(span.text, width, align) };
}

function rowLine(row: DashboardRow, layout: Layout, isSelected: boolean, now: Date): Line {
  const { migrationId, step, overview } = row;
  const { done, total, text } = doneOf(row);
  const rate = isAtWork(row) && overview ? perMinute(overview) : null;
  const exceptions = overview?.exceptions ?? row.failed;
  const end = endOf(row, now);
  const line = cellsOf(layout, {
    mark: isSelected ? '▸' : '',
    id: migrationId,
    step: isStep(step) ? `${stepNumber(step)}/${STEPS.length}` : 'self',
    waits: waitsFor(row, now),
    bar: bar(done, total, layout.bar),
    done: text,
    rate: rate === null ? '' : rateText(rate),
    end: end === null ? '' : nearTime(end, now),
    exceptions: exceptions === 0 ? '' : { text: String(exceptions), style: 'red' },
  });
  if (!isSelected) return line;
  return [{ text: line.map(textOf).join(''), style: 'inverse' }];
}

function waitsFor(row: DashboardRow, now: Date): Span {
  const { state, waitingFor, facts } = row;
  const since = facts?.waitingSince ? ` ${spanOfTime(now.getTime() - Date.parse(facts.waitingSince))}` : '';
  const said = (who: string, style: Style): Span => ({ text: who + since, style });
  if (state === 'paused') return said('paused', 'yellow');
  if (facts?.standsStill) return { text: 'held up', style: 'red' };
  switch (waitingFor) {
    case 'support':
      return said('support', 'yellow');
    case 'client and support':
    case 'support and client':
      return said('both', 'yellow');
    case 'client':
      return said('client', 'cyan');
    default:
      return { text: 'at work', style: 'green' };
  }
}

const isAtWork = (row: DashboardRow): boolean => urgency(row) === 1;

function endOf(row: DashboardRow, now: Date): string | null {
  const { overview, facts } = row;
  const at = now.toISOString();
  const atThisRate =
    overview && facts && isAtWork(row)
      ? expectedEnd(overview, overview.total - overview.done, facts.windows, at)
      : null;
  // An estimate that has not come true is none.
  return atThisRate ?? (facts?.endsBy && facts.endsBy > at ? facts.endsBy : null);
}

function sentence(state: DashboardState, columns: number): readonly Line[] {
  if (state.rows?.length === 0) return [[{ text: 'No migration is open. Start one with: ferry start', style: 'dim' }]];
  const row = selectedRow(state);
  if (!row?.facts) return [];
  const who = row.waitingFor === 'nobody' || row.waitingFor === '' ? '' : `${row.waitingFor}: `;
  return wrapped(`${row.migrationId}: ${who}${row.facts.what}`, columns, SENTENCE_LINES).map((line) => [line]);
}
