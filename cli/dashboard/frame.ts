/** Renders a state of the dashboard as the lines of the screen, in a pure function. */
import { fitted, textOf, widthOf, wrapped, type StyledLine } from '../terminal/styled-text';
import type { Size } from '../terminal/full-screen';
import { clockTime } from '../terminal/times';
import { helpPage } from './help-page';
import { listHeight, listPage } from './list-page';
import { fullTextPage, lastFullTextTop, migrationPage } from './migration-page';
import type { Page, DashboardState, TimedResult } from './state';

const MIN_SIZE: Size = { columns: 76, rows: 16 };

/** Number of lines around a page: head, connection error and keys. */
const FRAME_LINES = 3;

/** Returns the number of rows on one page of the list. */
export function visibleRowCount({ rows }: Size): number {
  return listHeight(rows - FRAME_LINES);
}

/** Returns the index of the first line that is shown when a migration's texts in full are scrolled to their end. */
export function lastTextTop(state: DashboardState, { columns, rows }: Size, now: Date): number {
  const aroundPage = FRAME_LINES - 1 + connectionLines(state, columns).length;
  return lastFullTextTop(state, { columns, rows: rows - aroundPage }, now);
}

/** Returns exactly as many lines as the screen has. If the screen is too small, returns only lines that say so. */
export function frameOf(state: DashboardState, size: Size, now: Date): readonly StyledLine[] {
  const { columns, rows } = size;
  if (columns < MIN_SIZE.columns || rows < MIN_SIZE.rows) {
    const needed = `${MIN_SIZE.columns} columns and ${MIN_SIZE.rows} lines`;
    return wrapped(`The dashboard needs at least ${needed}. Press q to quit.`, columns, rows).map((line) => [line]);
  }
  const connection = connectionLines(state, columns);
  // The frame already has one line for a connection error.
  const height = rows - FRAME_LINES - (connection.length - 1);
  const page = pageOf(state, { columns, rows: height }, now);
  const result = resultLines(state.lastResult, columns);
  return [
    headLine(page.title, columns, now),
    ...connection,
    // The last result covers the last lines of the page until the user presses a key.
    ...padded(page.lines, height - result.length),
    ...result,
    keysLine(page.keys),
  ];
}

function pageOf(state: DashboardState, size: Size, now: Date): Page {
  if (state.isHelpShown) return helpPage();
  if (state.isOpen && state.fullTextTop !== null) return fullTextPage(state, size, now);
  return state.isOpen ? migrationPage(state, size, now) : listPage(state, size, now);
}

function headLine(title: StyledLine, columns: number, now: Date): StyledLine {
  const clock = clockTime(now);
  const room = columns - widthOf(clock) - 1;
  const [first = '', ...rest] = title;
  const more = fitted(rest.map(textOf).join(''), Math.max(0, room - widthOf(textOf(first))));
  return [first, more, ' ', clock];
}

/**
 * Returns at least one line, so that the page stays where it is. A migration's page has no room for more than one line;
 * the page with its texts in full shows up to `CONNECTION_LINES` of the error.
 */
function connectionLines(state: DashboardState, columns: number): readonly StyledLine[] {
  const { connectionError, readAt, rows, isOpen, fullTextTop } = state;
  if (connectionError === null) return [rows === null ? [{ text: 'Reading...', style: 'dim' }] : []];
  const since = readAt === null ? '' : `last read at ${clockTime(new Date(readAt))}; `;
  const retrying = '; retrying automatically';
  const why = since + connectionError;
  const room = columns - widthOf(retrying);
  const lines =
    isOpen && fullTextTop === null
      ? [(widthOf(why) > room ? fitted(why, room) : why) + retrying]
      : wrapped(why + retrying, columns, CONNECTION_LINES);
  return lines.map((text) => [{ text, style: 'yellow' }]);
}

const CONNECTION_LINES = 3;
const RESULT_LINES = 8;
const RESULTS = {
  applied: { mark: '✓ ', style: 'green' },
  partial: { mark: '✗ ', style: 'red' },
  refused: { mark: '✗ refused: ', style: 'red' },
  recorded: { mark: '… ', style: 'yellow' },
  nothing: { mark: '', style: 'dim' },
  failed: { mark: '✗ ', style: 'red' },
} as const;

function resultLines(result: TimedResult | null, columns: number): readonly StyledLine[] {
  if (result === null) return [];
  const { mark, style } = RESULTS[result.outcome];
  return wrapped(`${clockTime(new Date(result.at))} ${mark}${result.text}`, columns, RESULT_LINES).map((text) => [
    { text, style },
  ]);
}

function keysLine(keys: Page['keys']): StyledLine {
  return keys.flatMap(([key, does], index) => [
    ...(index === 0 ? [] : ['  ']),
    { text: key, style: 'bold' } as const,
    ` ${does}`,
  ]);
}

function padded(lines: readonly StyledLine[], count: number): readonly StyledLine[] {
  return Array.from({ length: count }, (_, index) => lines[index] ?? []);
}
