/** Reads the rows of a client's file, and the credentials in them. */
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse';
import { matchColumns, type Columns } from '../../domain/supply/columns';
import { UnreadableFile, type Report } from '../../domain/supply/findings';
import { RowReader } from '../../domain/supply/row-reader';
import { noRows, openTable } from '../../domain/supply/table';
import { CommandFailed } from '../shared/errors';
import type { CsvParserFactory } from '../../domain/supply/csv-table';
import { parseCredential, type CredentialTimes, type ParsedCredential } from '../../domain/supply/row-parser';
import type { Platform } from '../../platforms/platforms';
import { Secret } from '../../security/secret';
import type { Decoding, Encoding } from './encoding';
import { openSourceFile, type SourceFile } from './source-file';

/** Thrown when a file has changed since it was checked. Data that was read since then must not be used. */
export class FileChanged extends CommandFailed {
  constructor(readonly file: string) {
    super(
      `${file} has changed since it was checked`,
      'run the command again, and do not change the file while the command is running',
    );
  }
}

/**
 * A CSV or JSON file of rows. Rows are not kept in memory, because there can be a million of them. The file is read
 * once to check it, and again, row by row, whenever its rows are needed.
 */
export class RowFile {
  /** Digest of the content at the first reading: undefined until this reading ends, null if it ended early. */
  #content: string | null | undefined;
  #decoding: Decoding | undefined;

  constructor(
    private readonly file: string,
    private readonly columns: Columns,
    private readonly encoding?: Encoding,
  ) {}

  /**
   * Reads the rows one at a time, on demand. An error that makes the file unreadable is reported and ends the reading.
   *
   * @throws FileChanged at the end of a reading whose content differs from that of the first reading
   */
  async *rows(report: Report): AsyncGenerator<RowReader> {
    let content: string | null = null;
    const source = await this.#open(report);
    if (source === null) return;
    try {
      const text = (): AsyncIterable<string> => withDigest(source.text(), (digest) => (content = digest));
      let isBroken = false;
      this.#decoding = source.decoding;
      if (source.decoding.finding !== null) report(source.decoding.finding);
      const table = await openTable(this.file, text, createCsvParser, (finding) => {
        isBroken = true;
        report(finding);
      });
      const byField = matchColumns(this.file, table, this.columns, report);
      if (byField === null) return this.#assertUnchanged(null);

      let count = 0;
      const { modifiedAt } = source;
      for await (const row of table.rows) {
        count += 1;
        yield new RowReader({ file: this.file, modifiedAt }, row.line, byField(row), report);
      }
      if (count === 0 && !isBroken) throw noRows(this.file, 'the file contains only a header row');
      this.#assertUnchanged(content);
    } catch (error) {
      this.#reportUnreadable(error, report);
    } finally {
      await source.close();
    }
  }

  async #open(report: Report): Promise<SourceFile | null> {
    try {
      return await openSourceFile(this.file, this.encoding, this.#decoding);
    } catch (error) {
      this.#reportUnreadable(error, report);
      return null;
    }
  }

  #reportUnreadable(error: unknown, report: Report): void {
    if (!(error instanceof UnreadableFile)) throw error;
    this.#assertUnchanged(null);
    report(error.finding);
  }

  #assertUnchanged(content: string | null): void {
    if (this.#content === undefined) this.#content = content;
    else if (this.#content !== content) throw new FileChanged(this.file);
  }
}

/** Passes the text through, and then calls `onEnd` with its SHA-256. */
async function* withDigest(text: AsyncIterable<string>, onEnd: (digest: string) => void): AsyncGenerator<string> {
  const hash = createHash('sha256');
  for await (const piece of text) {
    hash.update(piece);
    yield piece;
  }
  onEnd(hash.digest('hex'));
}

/** Creates a parser that never has more than one piece in memory. */
const createCsvParser: CsvParserFactory = (options) => {
  const parser = parse({ ...options });
  // Ignores the error event, because the callbacks of write and end also receive the error.
  parser.on('error', () => undefined);
  const completed = (call: (callback: (error?: Error | null) => void) => void): Promise<Error | null | undefined> =>
    new Promise(call);
  return {
    write: (piece) => completed((callback) => parser.write(piece, callback)),
    end: () => completed((callback) => parser.end(callback)),
  };
};

/** A credential from a file. Its fields cannot be printed by accident. */
export interface SecretCredential extends Omit<ParsedCredential, 'fields'> {
  readonly fields: Secret<ParsedCredential['fields']>;
}

/** Parses a credential. Reports errors, and returns null if there are any. */
export function parseSecretCredential(
  reader: RowReader,
  platform: Platform,
  times: CredentialTimes,
): SecretCredential | null {
  const credential = parseCredential(reader, platform, times);
  return credential && { ...credential, fields: new Secret(credential.fields) };
}
