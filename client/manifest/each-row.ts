import { CheckedRow } from './checked-row';
import { matchColumns, type Columns } from './columns';
import { openCsvTable } from './csv-table';
import { UnreadableFile, type Report } from './findings';
import { isJson, readJsonTable } from './json-table';
import { openSourceFile, type SourceFile } from './source-file';
import type { Table } from './table';

/**
 * Reads a file of rows, CSV or JSON, and hands over each of them. What keeps it from being read is reported, and ends
 * the reading.
 */
export async function eachRow(
  file: string,
  columns: Columns,
  report: Report,
  read: (checked: CheckedRow, source: SourceFile) => void,
): Promise<void> {
  let source: SourceFile | undefined;
  try {
    source = await openSourceFile(file);
    let broken = false;
    const table = await openTable(file, source.text, (finding) => {
      broken = true;
      report(finding);
    });
    const named = matchColumns(file, table, columns, report);
    if (named === null) return;

    let count = 0;
    for await (const row of table.rows) {
      count += 1;
      read(new CheckedRow(file, row.line, named(row), report), source);
    }
    if (count === 0 && !broken) throw noRows(file, 'the file has a header row and nothing else');
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    report(error.finding);
  } finally {
    await source?.close();
  }
}

async function openTable(file: string, text: AsyncIterable<string>, report: Report): Promise<Table> {
  const pieces = text[Symbol.asyncIterator]();
  let start = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    start += piece.value;
    if (start.trim() !== '') break;
  }
  if (!isJson(start)) return openCsvTable(file, continued(start, pieces), report);

  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) start += piece.value;
  const table = readJsonTable(file, start);
  if (table.headers.length === 0) throw noRows(file, 'there is no company in the file');
  return table;
}

async function* continued(start: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield start;
  yield* { [Symbol.asyncIterator]: () => rest };
}

function noRows(file: string, message: string): UnreadableFile {
  const advice = 'add one row for each company';
  return new UnreadableFile({ code: 'no-companies', severity: 'error', file, message, advice });
}
