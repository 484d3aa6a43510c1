/** Reads and checks a file of credentials, with the rules of `ferry check`. Its content stays in this page. */
import { parse } from 'csv-parse/browser/esm/sync';
import { credentialColumns, matchColumns } from '../../domain/supply/columns';
import type { CsvParserFactory } from '../../domain/supply/csv-table';
import { Duplicates, type NumberMap } from '../../domain/supply/duplicates';
import { notTextFinding, unicodeEncodingOf } from '../../domain/supply/file-kind';
import { FindingList, UnreadableFile, type Report } from '../../domain/supply/findings';
import { parseCredential, type ParsedCredential } from '../../domain/supply/row-parser';
import { RowReader } from '../../domain/supply/row-reader';
import { noRows, openTable } from '../../domain/supply/table';
import type { Platform } from '../../platforms/platforms';

/** The page reads the whole file into memory. `ferry seal` has no such limit. */
const MAX_BYTES = 100 * 1024 * 1024;

export interface CheckedFile {
  readonly findings: FindingList;
  /** Those without an error. */
  readonly credentials: readonly ParsedCredential[];
}

/** @param obtainedAt applies to credentials without an `obtainedAt` in the file */
export async function checkCredentials(file: File, platform: Platform, obtainedAt: Date): Promise<CheckedFile> {
  const findings = new FindingList();
  const credentials: ParsedCredential[] = [];
  try {
    const text = await textOf(file);
    await readRows({ name: file.name, text, obtainedAt }, platform, findings.add, (each) => credentials.push(each));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    findings.add(error.finding);
  }
  return { findings, credentials };
}

/** @throws UnreadableFile */
async function textOf(file: File): Promise<string> {
  const problem = { severity: 'error', file: file.name } as const;
  if (file.size > MAX_BYTES)
    throw new UnreadableFile({
      ...{ ...problem, code: 'file-too-large', message: 'the file is larger than 100 MB' },
      advice: 'split it into several files, or seal it with: ferry seal',
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

async function readRows(
  { name, text, obtainedAt }: { readonly name: string; readonly text: string; readonly obtainedAt: Date },
  platform: Platform,
  report: Report,
  take: (credential: ParsedCredential) => void,
): Promise<void> {
  let isBroken = false;
  const table = await openTable(
    name,
    () => once(text),
    createCsvParser,
    (finding) => {
      isBroken = true;
      report(finding);
    },
  );
  const byField = matchColumns(name, table, credentialColumns(platform), report);
  if (byField === null) return;
  const duplicates = new Duplicates(platform.organizationField, createMap);
  const times = { now: new Date() };
  let rows = 0;
  for await (const row of table.rows) {
    rows += 1;
    const reader = new RowReader({ file: name, modifiedAt: obtainedAt }, row.line, byField(row), report);
    const credential = parseCredential(reader, platform, times);
    if (credential === null) continue;
    duplicates.checkReference(reader, credential.reference);
    duplicates.checkCredential(reader, credential.fields);
    if (reader.isValid) take(credential);
  }
  if (rows === 0 && !isBroken) throw noRows(name, 'the file contains only a header row');
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

function createMap(): NumberMap {
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

/** Parses the text at its end, because the file is in memory anyway. */
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
