import { createHash } from 'node:crypto';

import { CheckedRow } from '../checked-row';
import { matchColumns, type Columns } from '../columns';
import { openCsvTable } from './csv-table';
import { FileChanged, UnreadableFile, type Report } from '../findings';
import { isJson, openJsonTable } from './json-table';
import { openSourceFile } from './source-file';
import type { Table } from './table';

/**
 * A file of rows, CSV or JSON. It may have a million of them: whoever uses it reads it once to check it and then again,
 * row by row, and holds none of them.
 */
export class RowFile {
  /** What the first reading has found, by its digest; null: it could not be read to its end. */
  #content: string | null | undefined;

  constructor(
    private readonly file: string,
    private readonly columns: Columns,
  ) {}

  /**
   * Each row, read when it is asked for. What keeps the file from being read is reported, and ends the reading.
   *
   * @throws FileChanged at the end of a reading that was not of the same content as the first
   */
  async *rows(report: Report): AsyncGenerator<CheckedRow> {
    let content: string | null = null;
    const source = await this.#opened(report);
    if (source === null) return;
    try {
      const text = (): AsyncIterable<string> => digested(source.text(), (digest) => (content = digest));
      let isBroken = false;
      const table = await openTable(this.file, text, (finding) => {
        isBroken = true;
        report(finding);
      });
      const named = matchColumns(this.file, table, this.columns, report);
      if (named === null) return this.#assertUnchanged(null);

      let count = 0;
      const { modifiedAt } = source;
      for await (const row of table.rows) {
        count += 1;
        yield new CheckedRow({ file: this.file, modifiedAt }, row.line, named(row), report);
      }
      if (count === 0 && !isBroken) throw noRows(this.file, 'the file has a header row and nothing else');
      this.#assertUnchanged(content);
    } catch (error) {
      this.#ended(error, report);
    } finally {
      await source.close();
    }
  }

  async #opened(report: Report): Promise<Awaited<ReturnType<typeof openSourceFile>> | null> {
    try {
      return await openSourceFile(this.file);
    } catch (error) {
      this.#ended(error, report);
      return null;
    }
  }

  #ended(error: unknown, report: Report): void {
    if (!(error instanceof UnreadableFile)) throw error;
    this.#assertUnchanged(null);
    report(error.finding);
  }

  #assertUnchanged(content: string | null): void {
    if (this.#content === undefined) this.#content = content;
    else if (this.#content !== content) throw new FileChanged(this.file);
  }
}

/** The same text; at its end, the digest of it is told. */
async function* digested(text: AsyncIterable<string>, tell: (digest: string) => void): AsyncGenerator<string> {
  const hash = createHash('sha256');
  for await (const piece of text) {
    hash.update(piece);
    yield piece;
  }
  tell(hash.digest('hex'));
}

async function openTable(file: string, text: () => AsyncIterable<string>, report: Report): Promise<Table> {
  const pieces = text()[Symbol.asyncIterator]();
  let start = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    start += piece.value;
    if (start.trim() !== '') break;
  }
  if (!isJson(start)) return openCsvTable(file, continued(start, pieces), report);

  await pieces.return?.();
  const table = await openJsonTable(file, text);
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
