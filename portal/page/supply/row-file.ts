/** Reads, in this page, the rows of a file that a person has chosen, with the rules of `ferry check`. Sends nothing. */
import { parse } from 'csv-parse/browser/esm/sync';
import { matchColumns, type Columns } from '../../../domain/supply/columns';
import type { CsvParserFactory } from '../../../domain/supply/csv-table';
import type { NumberMap } from '../../../domain/supply/duplicates';
import { type FindingList, UnreadableFile } from '../../../domain/supply/findings';
import { RowReader } from '../../../domain/supply/row-reader';
import { noRows, openTable } from '../../../domain/supply/table';
import type { SourceFile } from './source-file';

/** Yields the rows of a file. If an error makes the file unreadable, adds it to the findings and stops. */
export async function* readRows(
  { name, text, modifiedAt }: SourceFile,
  columns: Columns,
  findings: FindingList,
): AsyncGenerator<RowReader> {
  try {
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

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** A value with non-ASCII characters, which a wrong encoding would change. */
export interface AccentedValue {
  readonly line: number;
  readonly text: string;
}

/** Returns the values that contain non-ASCII characters. */
export const accentedValues = ({ line }: RowReader, values: readonly string[]): readonly AccentedValue[] =>
  values.filter((text) => /\P{ASCII}/u.test(text)).map((text) => ({ line, text }));

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
