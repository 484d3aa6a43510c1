import type { Table } from './columns';
import { openCsvTable, type CsvParserFactory } from './csv-table';
import { UnreadableFile, type Report } from './findings';
import { EXPECTED_JSON, isJson, openJsonTable } from './json-table';

/**
 * Opens a CSV or JSON file as a table.
 *
 * @param text returns the text from its beginning at each call; lines end in `\n`
 * @throws UnreadableFile
 */
export async function openTable(
  file: string,
  text: () => AsyncIterable<string>,
  createCsvParser: CsvParserFactory,
  report: Report,
): Promise<Table> {
  const pieces = text()[Symbol.asyncIterator]();
  let start = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    start += piece.value;
    // Only the new piece is checked, because a file can begin with millions of blank lines.
    if (piece.value.trim() !== '') break;
  }
  if (!isJson(start)) return openCsvTable(file, continued(start, pieces), createCsvParser, report);

  await pieces.return?.();
  const table = await openJsonTable(file, text);
  if (table.headers.length === 0) throw noRows(file, 'the file contains no company', EXPECTED_JSON);
  return table;
}

async function* continued(start: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield start;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export function noRows(file: string, message: string, advice = 'add one row for each company'): UnreadableFile {
  return new UnreadableFile({ code: 'no-companies', severity: 'error', file, message, advice });
}
