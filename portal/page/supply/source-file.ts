/** Reads the text of a file that a person has chosen, in the encodings that `ferry check` recognizes. */
import type { Finding } from '../../../domain/companies/finding';
import { byteOrderMarkOf, notTextFinding, unicodeEncodingOf } from '../../../domain/supply/file-kind';
import { type FindingList, UnreadableFile } from '../../../domain/supply/findings';
import { HighByteCounter, isProbablyWindows1252, notUtf8Message } from '../../../domain/supply/windows-1252';

/** Limit on a file, because the page reads the whole file into memory. `ferry` has no such limit. */
const MAX_BYTES = 100 * 1024 * 1024;

export interface SourceFile {
  readonly name: string;
  readonly modifiedAt: Date;
  /** Lines end in `\n`. */
  readonly text: string;
  /** True if the text was read as Windows-1252. Only a person can check whether that is right. */
  readonly isWindows1252: boolean;
}

/**
 * Reads a file. Adds problems of the whole file to the findings.
 *
 * @param asWindows1252 true if the person has chosen this encoding for a file that is not Unicode
 * @param migrationId the migration that the page shows
 * @returns null if the file is unreadable
 */
export async function openSourceFile(
  file: File,
  asWindows1252: boolean,
  findings: FindingList,
  migrationId: string,
): Promise<SourceFile | null> {
  try {
    const source = await read(file, asWindows1252, migrationId);
    if (source.finding !== null) findings.add(source.finding);
    return source;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    findings.add(error.finding);
    return null;
  }
}

/** A source file, and a possible error about its encoding. */
interface ReadFile extends SourceFile {
  /**
   * The error that the file is not Unicode; null if there is none. The file is still read, so that its other errors are
   * found as well.
   */
  readonly finding: Finding | null;
}

/** @throws UnreadableFile */
async function read(file: File, asWindows1252: boolean, migrationId: string): Promise<ReadFile> {
  const problem = { severity: 'error', file: file.name } as const;
  if (file.size > MAX_BYTES)
    throw new UnreadableFile({
      ...{ ...problem, code: 'file-too-large', message: 'the file is larger than 100 MB' },
      advice: 'split a credential file into several files; for a manifest, ask your contact how to supply it',
    });
  const bytes = new Uint8Array(await file.arrayBuffer());
  const head = bytes.subarray(0, 4096);
  const notText = notTextFinding(file.name, head, migrationId);
  if (notText !== null) throw new UnreadableFile(notText);
  const source = { name: file.name, modifiedAt: new Date(file.lastModified), finding: null, isWindows1252: false };
  const unicode = decoded(bytes, unicodeEncodingOf(head));
  if (unicode !== null) return { ...source, text: unicode };
  const notUtf8 = { ...problem, code: 'not-utf8' } as const;
  if (byteOrderMarkOf(head) !== null || unicodeEncodingOf(head) !== 'utf-8')
    throw new UnreadableFile({ ...notUtf8, message: notUtf8Message(false), advice: SAVE_AS_UTF_8 });
  const text = decoded(bytes, 'windows-1252') ?? '';
  if (asWindows1252) return { ...source, text, isWindows1252: true };
  const { line, highBefore } = firstLineNotUtf8(bytes);
  const counter = new HighByteCounter();
  counter.add(bytes);
  const message = notUtf8Message(isProbablyWindows1252(counter, highBefore));
  const advice = `${SAVE_AS_UTF_8}, or choose "${READ_AS_WINDOWS_1252}" and check the values that the page then lists`;
  return { ...source, text, finding: { ...notUtf8, line, message, advice }, isWindows1252: true };
}

/**
 * Returns whether a file has characters of several bytes in UTF-8, which Windows-1252 would show as other characters.
 * The file can be damaged elsewhere.
 */
export async function hasUtf8Characters(file: File): Promise<boolean> {
  if (file.size > MAX_BYTES) return false;
  return /[^\0-\x7f\ufffd]/.test(new TextDecoder().decode(await file.arrayBuffer()));
}

const SAVE_AS_UTF_8 = 'save it as UTF-8 (in Excel: "CSV UTF-8")';
export const READ_AS_WINDOWS_1252 = 'Read the file as Windows-1252 (Excel)';

/** Returns null if the bytes are not in this encoding. */
function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes).replace(/\r\n?/g, '\n');
  } catch {
    return null;
  }
}

const LINE_FEED = 0x0a;

/** @returns the number of the line, from 1, and the number of bytes before it that are not ASCII */
function firstLineNotUtf8(bytes: Uint8Array): { readonly line: number; readonly highBefore: number } {
  let highBefore = 0;
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    const next = end === -1 ? bytes.length : end + 1;
    const content = bytes.subarray(start, next);
    if (decoded(content, 'utf-8') === null) break;
    highBefore += content.filter((byte) => byte >= 0x80).length;
    start = next;
  }
  return { line, highBefore };
}
