/** The screen that a state of the desk is: pure, line by line. */
import type { Line } from '../terminal/line';
import { filled, textOf, widthOf, wrapped } from '../terminal/line';
import type { Size } from '../terminal/full-screen';
import { clockTime } from '../terminal/times';
import { helpPage } from './help-page';
import { listHeight, listPage } from './list-page';
import { migrationPage } from './migration-page';
import type { Page } from './page';
import type { DashboardState, Said } from './state';

const LEAST: Size = { columns: 76, rows: 16 };

/** Head, what does not answer, and the keys. */
const AROUND_PAGE = 3;

/** How many rows of the list one page of it has. */
export function rowsInSight({ rows }: Size): number {
  return listHeight(rows - AROUND_PAGE);
}

/** All lines of the screen, as many as it has. */
export function frameOf(state: DashboardState, size: Size, now: Date): readonly Line[] {
  const { columns, rows } = size;
  if (columns < LEAST.columns || rows < LEAST.rows) {
    return [[`The desk needs a terminal of ${LEAST.columns} columns and ${LEAST.rows} lines; q ends it`]];
  }
  const height = rows - AROUND_PAGE;
  const page = pageOf(state, { columns, rows: height }, now);
  const said = saidLines(state.said, columns);
  return [
    headLine(page.title, columns, now),
    troubleLine(state),
    // What was said covers the end of the page until the next key.
    ...padded(page.lines, height - said.length),
    ...said,
    keysLine(page.keys),
  ];
}

function pageOf(state: DashboardState, size: Size, now: Date): Page {
  if (state.isHelpShown) return helpPage();
  return state.isOpen ? migrationPage(state, size, now) : listPage(state, size, now);
}

function headLine(title: Line, columns: number, now: Date): Line {
  const clock = clockTime(now);
  const room = columns - widthOf(clock) - 1;
  const [first = '', ...rest] = title;
  const more = filled(rest.map(textOf).join(''), Math.max(0, room - widthOf(textOf(first))));
  return [first, more, ' ', clock];
}

function troubleLine({ trouble, freshAt, rows }: DashboardState): Line {
  if (trouble === null) return rows === null ? [{ text: 'Reading...', style: 'dim' }] : [];
  const since = freshAt === null ? '' : `as of ${clockTime(new Date(freshAt))}: `;
  return [{ text: `${since}${trouble}; tried again by itself`, style: 'yellow' }];
}

const SAID_LINES = 2;
const STYLES = { applied: 'green', refused: 'red', recorded: 'yellow', nothing: 'dim', failed: 'red' } as const;
const MARKS = { applied: '✓ ', refused: '✗ refused: ', recorded: '… ', nothing: '', failed: '✗ ' } as const;

function saidLines(said: Said | null, columns: number): readonly Line[] {
  if (said === null) return [];
  const { became, text } = said;
  return wrapped(MARKS[became] + text, columns, SAID_LINES).map((line) => [{ text: line, style: STYLES[became] }]);
}

function keysLine(keys: Page['keys']): Line {
  return keys.flatMap(([key, does], index) => [
    ...(index === 0 ? [] : ['  ']),
    { text: key, style: 'bold' } as const,
    ` ${does}`,
  ]);
}

/** Exactly so many lines. */
function padded(lines: readonly Line[], count: number): readonly Line[] {
  return Array.from({ length: count }, (_, index) => lines[index] ?? []);
}
