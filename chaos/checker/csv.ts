/** Reads CSV (RFC 4180) whose first record names the columns. */

const CELL = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;

export function parseCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const table: string[][] = [];
  let record: string[] = [];
  CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (CELL.lastIndex < text.length) {
    const at = CELL.lastIndex;
    const match = CELL.exec(text);
    if (match === null) throw new Error(`the CSV file is malformed at character ${at}`);
    const [, cell = '', end] = match;
    record.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ',') continue;
    table.push(record);
    record = [];
  }
  const [header = [], ...records] = table;
  return records.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])));
}
