import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import stringWidth from 'string-width';

import type { TerminalStream } from './terminal';

export type Style = Parameters<typeof styleText>[0];

/** A cell's text; what clients wrote may be in it, so control characters never reach the terminal. */
export type TableCell = string | { readonly text: string; readonly style: Style };

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Never cut or wrapped: what people have to type again. */
  readonly whole?: true;
  /** Left out where there is no room for all. */
  readonly spare?: true;
}

/** Rather than narrower than this, a column of words is left out, where it can be. */
const COMFORTABLE = 10;
/** Narrower than this, a column of words is not readable. */
const NARROWEST = 7;
const GAP = 2;

/** Lays rows out under their titles, without lines. On a terminal it fits the width, elsewhere nothing is wrapped. */
export function layTable(
  stream: TerminalStream,
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
): string {
  return new TableLayout(stream, columns).lay(rows);
}

/** The same for a table that is laid out part by part: columns never get narrower on the way, and none comes or goes. */
export class TableLayout {
  #widths: readonly number[];
  /** Which of the columns there is room for; null: nothing is laid out yet. */
  #shown: readonly number[] | null = null;

  constructor(
    private readonly stream: TerminalStream,
    private readonly columns: readonly TableColumn[],
  ) {
    this.#widths = columns.map(({ title }) => title.length);
  }

  lay(rows: readonly (readonly TableCell[])[]): string {
    const { stream, columns } = this;
    this.#widths = this.#widths.map((width, index) =>
      rows.reduce((most, row) => Math.max(most, stringWidth(textOf(row[index] ?? ''))), width),
    );
    const isFirst = this.#shown === null;
    const shown = (this.#shown ??= withRoom(this.#widths, columns, stream.columns));
    const these = shown.flatMap((index) => columns[index] ?? []);
    const natural = shown.map((index) => this.#widths[index] ?? 0);
    const table = new Table({
      head: isFirst ? these.map(({ title }) => styled(stream, 'bold', title)) : [],
      // The width that cli-table3 is told includes the gap.
      colWidths: fitted(natural, these, stream.columns).map((width) => width + GAP),
      colAligns: these.map(({ align }) => align ?? 'left'),
      wordWrap: true,
      chars: NO_LINES,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    });
    for (const row of rows) table.push(shown.map((index) => drawn(stream, row[index] ?? '')));
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  }
}

function drawn(stream: TerminalStream, cell: TableCell): string {
  return typeof cell === 'string' ? textOf(cell) : styled(stream, cell.style, textOf(cell));
}

/** Colours only where the stream shows them: a terminal, and `NO_COLOR` is not set. */
export function styled(stream: TerminalStream, style: Style, text: string): string {
  return styleText(style, text, { stream });
}

/** Text for a terminal: what could move the cursor or change colours is left out. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}/gu, ' ');
}

const textOf = (cell: TableCell): string => harmless(typeof cell === 'string' ? cell : cell.text);

/** All columns, or those that are not spare, where all are too many however narrow they get. */
function withRoom(
  natural: readonly number[],
  columns: readonly TableColumn[],
  available = Infinity,
): readonly number[] {
  const all = columns.map((_, index) => index);
  if (sumOf(fitted(natural, columns, available, COMFORTABLE)) <= available) return all;
  return all.filter((index) => !columns[index]?.spare);
}

/** With the gaps between them. */
const sumOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/** Takes from the widest column until all fit, or until none can give more. */
function fitted(
  natural: readonly number[],
  columns: readonly TableColumn[],
  available = Infinity,
  least = NARROWEST,
): number[] {
  const widths = [...natural];
  while (sumOf(widths) > available) {
    const yielding = widths.map((width, index) => (columns[index]?.whole ? 0 : width));
    const widest = yielding.indexOf(Math.max(...yielding));
    const width = yielding[widest] ?? 0;
    if (width <= least) break;
    widths[widest] = width - 1;
  }
  return widths;
}

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', right: '', 'right-mid': '', middle: '' },
};
