import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import stringWidth from 'string-width';

import type { TerminalStream } from './terminal';
import { withoutUnsafeCharacters } from '../../domain/text/untrusted-text';

export type Style = Parameters<typeof styleText>[0];

/** A cell's text. Control characters are removed, because the text can come from a client. */
export type TableCell = string | { readonly text: string; readonly style: Style };

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** True if values are never shortened or wrapped, because people have to type them or every row must be one line. */
  readonly unbroken?: true;
  /** True if the column is left out when there is no room for all columns. */
  readonly optional?: true;
}

/** Optional columns are left out if showing them would make a text column narrower than this. */
const PREFERRED_WIDTH = 10;
const MIN_WIDTH = 7;
const GAP = 2;

/** Formats a table without borders. Fits it to the width of a terminal; elsewhere, nothing is wrapped. */
export function formatTable(
  stream: TerminalStream,
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
): string {
  return new TableFormatter(stream, columns).format(rows);
}

/**
 * Formats a table in parts. All parts show the same columns. A column is at least as wide as its widest value so far,
 * if the terminal has room.
 */
export class TableFormatter {
  #widths: readonly number[];
  /** Indices of the shown columns; null if no part has been formatted yet. */
  #shown: readonly number[] | null = null;

  constructor(
    private readonly stream: TerminalStream,
    private readonly columns: readonly TableColumn[],
  ) {
    this.#widths = columns.map(({ title }) => title.length);
  }

  format(rows: readonly (readonly TableCell[])[]): string {
    const { stream, columns } = this;
    this.#widths = this.#widths.map((width, index) =>
      rows.reduce((widest, row) => Math.max(widest, stringWidth(textOf(row[index] ?? ''))), width),
    );
    const isFirst = this.#shown === null;
    const shown = (this.#shown ??= columnsThatFit(this.#widths, columns, stream.columns));
    const shownColumns = shown.flatMap((index) => columns[index] ?? []);
    const natural = shown.map((index) => this.#widths[index] ?? 0);
    const table = new Table({
      head: isFirst ? shownColumns.map(({ title }) => styled(stream, 'bold', title)) : [],
      // cli-table3 expects widths that include the gap.
      colWidths: narrowed(natural, shownColumns, stream.columns).map((width) => width + GAP),
      colAligns: shownColumns.map(({ align }) => align ?? 'left'),
      wordWrap: true,
      chars: NO_LINES,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    });
    for (const row of rows) table.push(shown.map((index) => styledCell(stream, row[index] ?? '')));
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  }
}

function styledCell(stream: TerminalStream, cell: TableCell): string {
  return typeof cell === 'string' ? textOf(cell) : styled(stream, cell.style, textOf(cell));
}

/** Styles text if the stream is a terminal and `NO_COLOR` is not set. */
export function styled(stream: TerminalStream, style: Style, text: string): string {
  return styleText(style, text, { stream });
}

/** Removes everything that could move the cursor, change colours or reorder text. */
export function withoutControlCharacters(text: string): string {
  return withoutUnsafeCharacters(stripVTControlCharacters(text));
}

const textOf = (cell: TableCell): string => withoutControlCharacters(typeof cell === 'string' ? cell : cell.text);

/** Returns the indices of all columns, or only of the required ones if they do not all fit. */
function columnsThatFit(
  natural: readonly number[],
  columns: readonly TableColumn[],
  available = Infinity,
): readonly number[] {
  const all = columns.map((_, index) => index);
  if (sumOf(narrowed(natural, columns, available, PREFERRED_WIDTH)) <= available) return all;
  return all.filter((index) => !columns[index]?.optional);
}

/** Returns the total width, including the gaps between columns. */
const sumOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/** Narrows the widest column repeatedly until all columns fit or none can get narrower. */
function narrowed(
  natural: readonly number[],
  columns: readonly TableColumn[],
  available = Infinity,
  minWidth = MIN_WIDTH,
): number[] {
  const widths = [...natural];
  while (sumOf(widths) > available) {
    const shrinkable = widths.map((width, index) => (columns[index]?.unbroken ? 0 : width));
    const widest = shrinkable.indexOf(Math.max(...shrinkable));
    const width = shrinkable[widest] ?? 0;
    if (width <= minWidth) break;
    widths[widest] = width - 1;
  }
  return widths;
}

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', right: '', 'right-mid': '', middle: '' },
};
