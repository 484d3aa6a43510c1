import Table from 'cli-table3';

import { styled, textOf, widthOf, withoutControlCharacters, wrapped, type Span } from './styled-text';
import type { TerminalStream } from './terminal';

/** A cell's text. Control characters are removed, because the text can come from a client. */
export type TableCell = Span;

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** True if values are never shortened or wrapped, because people have to type them or every row must be one line. */
  readonly unbroken?: true;
  /**
   * True if the column is left out when there is no room for all columns. `last`: only while the table would still be
   * wider than the terminal, from the left.
   */
  readonly optional?: true | 'last';
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
  /** For each column, the width of its longest word so far. */
  #words: readonly number[];
  /** Indices of the shown columns; null if no part has been formatted yet. */
  #shown: readonly number[] | null = null;

  constructor(
    private readonly stream: TerminalStream,
    private readonly columns: readonly TableColumn[],
  ) {
    this.#widths = columns.map(({ title }) => title.length);
    this.#words = columns.map(({ title }) => longestWord(title));
  }

  /**
   * Says how to see the optional columns that were left out; null if none was, or if they have no values. Must be
   * called after `format`.
   */
  leftOut(rows: readonly (readonly TableCell[])[]): string | null {
    const leftOut = this.columns.filter(
      (_, index) => !this.#shown?.includes(index) && rows.some((row) => safeTextOf(row[index] ?? '') !== ''),
    );
    if (leftOut.length === 0) return null;
    const titles = leftOut.map(({ title }) => `"${title}"`);
    const names = [titles.slice(0, -1).join(', '), titles.at(-1)].filter(Boolean).join(' and ');
    return `To see ${names}, make the terminal at least ${neededWidth(this.#sizes())} columns wide.`;
  }

  format(rows: readonly (readonly TableCell[])[]): string {
    const { stream, columns } = this;
    const widest = (before: readonly number[], widthOfText: (text: string) => number): readonly number[] =>
      before.map((width, index) =>
        rows.reduce((most, row) => Math.max(most, widthOfText(safeTextOf(row[index] ?? ''))), width),
      );
    this.#widths = widest(this.#widths, widthOf);
    this.#words = widest(this.#words, longestWord);
    const sizes = this.#sizes();
    const isFirst = this.#shown === null;
    const shown = (this.#shown ??= columnsThatFit(sizes, columns, stream.columns));
    const shownColumns = shown.flatMap((index) => columns[index] ?? []);
    const widths = narrowed(
      shown.flatMap((index) => sizes[index] ?? []),
      shownColumns,
      stream.columns,
    );
    const table = new Table({
      head: isFirst
        ? shownColumns.map(({ title }, index) => brokenCell(stream, { text: title, style: 'bold' }, widths[index] ?? 0))
        : [],
      // cli-table3 expects widths that include the gap.
      colWidths: widths.map((width) => width + GAP),
      colAligns: shownColumns.map(({ align }) => align ?? 'left'),
      chars: NO_LINES,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    });
    for (const row of rows) table.push(shown.map((index, at) => brokenCell(stream, row[index] ?? '', widths[at] ?? 0)));
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  }

  /** Returns the widths that each column can have. */
  #sizes(): readonly Size[] {
    return this.columns.map(({ unbroken }, index) => ({
      natural: this.#widths[index] ?? 0,
      least: (unbroken ? this.#widths : this.#words)[index] ?? 0,
    }));
  }
}

/** Breaks the text of a cell into lines, so that nothing of it is cut. */
function brokenCell(stream: TerminalStream, cell: TableCell, width: number): string {
  const text = safeTextOf(cell);
  const lines = widthOf(text) <= width ? [text] : wrapped(text, width, Infinity);
  return lines.map((line) => (typeof cell === 'string' ? line : styled(stream, cell.style, line))).join('\n');
}

const safeTextOf = (cell: TableCell): string => withoutControlCharacters(textOf(cell));

/** The widths that a column can have. */
interface Size {
  /** The width of the widest value. */
  readonly natural: number;
  /** The width below which values would be broken within words; in an unbroken column, the natural width. */
  readonly least: number;
}

/** Splits a text at spaces and after hyphens. Returns the width of the widest part. */
function longestWord(text: string): number {
  return Math.max(0, ...(text.match(/[^\s-]*-|[^\s-]+/g) ?? []).map(widthOf));
}

/** Returns the indices of all columns if all fit; otherwise, without the optional columns that have no room. */
function columnsThatFit(
  sizes: readonly Size[],
  columns: readonly TableColumn[],
  available = Infinity,
): readonly number[] {
  const all = columns.map((_, index) => index);
  if (neededWidth(sizes) <= available) return all;
  let shown = all.filter((index) => columns[index]?.optional !== true);
  const least = (index: number): number =>
    Math.min(sizes[index]?.natural ?? 0, columns[index]?.unbroken ? Infinity : MIN_WIDTH);
  for (const last of shown.filter((index) => columns[index]?.optional === 'last'))
    if (sumOf(shown.map(least)) > available) shown = shown.filter((index) => index !== last);
  return shown;
}

/** Returns the least width of a terminal in which all columns are shown. */
const neededWidth = (sizes: readonly Size[]): number =>
  sumOf(sizes.map(({ natural, least }) => Math.min(natural, Math.max(least, PREFERRED_WIDTH))));

/** Returns the total width, including the gaps between columns. */
const sumOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/**
 * Narrows the widest column repeatedly until all columns fit or none can get narrower. Values are broken within words
 * only if there is no other way to make the columns fit.
 */
function narrowed(sizes: readonly Size[], columns: readonly TableColumn[], available = Infinity): readonly number[] {
  const between = shrunk(
    sizes.map(({ natural }) => natural),
    sizes.map(({ least }) => Math.max(least, MIN_WIDTH)),
    available,
  );
  return shrunk(
    between,
    between.map((width, index) => (columns[index]?.unbroken ? width : MIN_WIDTH)),
    available,
  );
}

/** @param floors the least width of each column */
function shrunk(widths: readonly number[], floors: readonly number[], available: number): number[] {
  const result = [...widths];
  while (sumOf(result) > available) {
    const shrinkable = result.map((width, index) => (width > (floors[index] ?? 0) ? width : 0));
    const width = Math.max(...shrinkable);
    if (width === 0) break;
    result[shrinkable.indexOf(width)] = width - 1;
  }
  return result;
}

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', right: '', 'right-mid': '', middle: '' },
};
