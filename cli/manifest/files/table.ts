/** What a client wrote into one field, and where it stands. */
export interface Cell {
  readonly text: string;
  readonly line: number;
  /** See `Finding.column`. */
  readonly column: number;
}

/** One company's or credential's row. */
export interface TableRow {
  readonly line: number;
  /** In the order of the table's headers, one for each. */
  readonly cells: readonly Cell[];
}

/** A file of rows, whatever its format. */
export interface Table {
  readonly headers: readonly Cell[];
  /** To be read once. Throws `UnreadableFile` where the file cannot be read any further. */
  readonly rows: AsyncIterable<TableRow>;
}
