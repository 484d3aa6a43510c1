import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';

import type { TerminalStream } from './terminal';

export type Style = Parameters<typeof styleText>[0];

/** A cell's text; what clients wrote may be in it, so control characters never reach the terminal. */
export type TableCell = string | { readonly text: string; readonly style: Style };

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Never cut or wrapped: what people have to type again. */
  readonly whole?: true;
}

/** Narrower than this, a column of words is not readable. */
const LEAST_WIDTH = 12;
const GAP = 2;

/** Lays rows out under their titles, without lines. On a terminal it fits the width, elsewhere nothing is wrapped. */
export function layTable(
  stream: TerminalStream,
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
): string {
  return new TableLayout(stream, columns).lay(rows);
}

/** The same for a table that is laid out part by part: columns never get narrower on the way. */
export class TableLayout {
  #widths: readonly number[];
  #hasHead = false;

  constructor(
    private readonly stream: TerminalStream,
    private readonly columns: readonly TableColumn[],
  ) {
    this.#widths = columns.map(({ title }) => title.length);
  }

  lay(rows: readonly (readonly TableCell[])[]): string {
    const { stream, columns } = this;
    this.#widths = this.#widths.map((width, index) =>
      rows.reduce((most, row) => Math.max(most, textOf(row[index] ?? '').length), width),
    );
    const table = new Table({
      head: this.#hasHead ? [] : columns.map(({ title }) => styled(stream, 'bold', title)),
      // The width that cli-table3 is told includes the gap.
      colWidths: fitted(this.#widths, columns, stream.columns).map((width) => width + GAP),
      colAligns: columns.map(({ align }) => align ?? 'left'),
      wordWrap: true,
      chars: NO_LINES,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    });
    this.#hasHead = true;
    for (const row of rows) {
      table.push(
        row.map((cell) => (typeof cell === 'string' ? textOf(cell) : styled(stream, cell.style, textOf(cell)))),
      );
    }
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  }
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

/** Takes from the widest column until all fit, or until none can give more. */
function fitted(natural: readonly number[], columns: readonly TableColumn[], available = Infinity): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP, 0);
  while (total() > available) {
    const yielding = widths.map((width, index) => (columns[index]?.whole ? 0 : width));
    const widest = yielding.indexOf(Math.max(...yielding));
    const width = yielding[widest] ?? 0;
    if (width <= LEAST_WIDTH) break;
    widths[widest] = width - 1;
  }
  return widths;
}

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', right: '', 'right-mid': '', middle: '' },
};
