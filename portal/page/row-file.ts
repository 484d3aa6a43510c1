/** Reads the rows of a file that a person has chosen, with the rules of `ferry check`. Its content stays in this page. */
import { parse } from 'csv-parse/browser/esm/sync';
import { matchColumns, type Columns } from '../../domain/supply/columns';
import type { CsvParserFactory } from '../../domain/supply/csv-table';
import type { NumberMap } from '../../domain/supply/duplicates';
import { notTextFinding, unicodeEncodingOf } from '../../domain/supply/file-kind';
import { type FindingList, UnreadableFile } from '../../domain/supply/findings';
import { RowReader } from '../../domain/supply/row-reader';
import { noRows, openTable } from '../../domain/supply/table';

/** The page reads the whole file into memory. `ferry` has no such limit. */
const MAX_BYTES = 100 * 1024 * 1024;

/**
 * Yields the rows of a file. If an error makes the file unreadable, adds it to the findings and stops.
 *
 * @param modifiedAt the time to use for rows that do not have one
 */
export async function* readRows(
  file: File,
  columns: Columns,
  findings: FindingList,
  modifiedAt = new Date(file.lastModified),
): AsyncGenerator<RowReader> {
  const { name } = file;
  try {
    const text = await textOf(file);
    let isBroken = false;
    const table = await openTable(
      name,
      () => once(text),
      createCsvParser,
      (finding) => {
        isBroken = true;
        findings.add(finding);
      },
    );
    const byField = matchColumns(name, table, columns, findings.add);
    if (byField === null) return;
    let rows = 0;
    for await (const row of table.rows) {
      rows += 1;
      yield new RowReader({ file: name, modifiedAt }, row.line, byField(row), findings.add);
    }
    if (rows === 0 && !isBroken) throw noRows(name, 'the file contains only a header row');
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    findings.add(error.finding);
  }
}

/** @throws UnreadableFile */
async function textOf(file: File): Promise<string> {
  const problem = { severity: 'error', file: file.name } as const;
  if (file.size > MAX_BYTES)
    throw new UnreadableFile({
      ...{ ...problem, code: 'file-too-large', message: 'the file is larger than 100 MB' },
      advice: 'split it into several files, or ask your contact',
    });
  const bytes = new Uint8Array(await file.arrayBuffer());
  const head = bytes.subarray(0, 4096);
  const notText = notTextFinding(file.name, head);
  if (notText !== null) throw new UnreadableFile(notText);
  try {
    return new TextDecoder(unicodeEncodingOf(head), { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    throw new UnreadableFile({
      ...{ ...problem, code: 'not-utf8', message: 'this file is not UTF-8' },
      advice: 'save it as "CSV UTF-8"',
    });
  }
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

export function createNumberMap(): NumberMap {
  const numbers = new Map<string, number>();
  return {
    get: (key) => numbers.get(key) ?? 0,
    update: (key, next) => {
      const previous = numbers.get(key) ?? 0;
      numbers.set(key, next(previous));
      return previous;
    },
  };
}

/** Collects the text and parses it when it is complete, because the file is in memory anyway. */
const createCsvParser: CsvParserFactory = (options) => {
  let text = '';
  return {
    write: async (piece) => {
      text += piece;
      return null;
    },
    end: async () => {
      try {
        parse(text, { ...options });
        return null;
      } catch (error) {
        return error as Error;
      }
    },
  };
};
