import { open, type FileHandle } from 'node:fs/promises';
import iconv from 'iconv-lite';

import { UnreadableFile } from '../findings';

/** Larger files are refused: some millions of companies, more than any migration has. */
const MAX_BYTES = 256 * 1024 * 1024;

const HEAD_BYTES = 4096;
const PIECE_BYTES = 64 * 1024;

/** A file of text, decoded: every line ends in `\n`, a byte order mark is gone, what cannot be decoded is U+FFFD. */
export interface SourceFile {
  readonly modifiedAt: Date;
  /** The text from its beginning, in pieces that are read when they are asked for. */
  readonly text: () => AsyncIterable<string>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a file that a client supplied, in whatever encoding its spreadsheet wrote.
 *
 * @throws UnreadableFile when it is not there, not text (a workbook, an archive, a PDF), or far too large
 */
export async function openSourceFile(path: string): Promise<SourceFile> {
  const file = await openOrExplain(path);
  try {
    const { size, mtime } = await file.stat();
    if (size > MAX_BYTES) throw tooLarge(path, size);
    const head = await readHead(file);
    refuseWhatIsNotText(path, head);
    return { modifiedAt: mtime, text: () => decoded(file, encodingOf(head)), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function tooLarge(path: string, bytes: number): UnreadableFile {
  const megabytes = (count: number): number => Math.round(count / 1024 / 1024);
  return new UnreadableFile({
    code: 'file-too-large',
    severity: 'error',
    file: path,
    message: `the file has ${megabytes(bytes)} MB; up to ${megabytes(MAX_BYTES)} MB are read`,
    advice: 'split it into several migrations',
  });
}

async function openOrExplain(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    throw new UnreadableFile({
      code: 'file-unreadable',
      severity: 'error',
      file: path,
      message: whyUnreadable(error),
      advice: 'check the path; a relative path starts at the folder where the command runs',
    });
  }
  await file.close();
  throw new UnreadableFile({
    code: 'file-unreadable',
    severity: 'error',
    file: path,
    message: 'this is not a file',
    advice: 'name the CSV or JSON file itself',
  });
}

function whyUnreadable(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'you may not read this file';
  return `the file cannot be opened (${String(code ?? error)})`;
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

const KINDS_THAT_ARE_NOT_TEXT: readonly { readonly starts: string; readonly kind: string }[] = [
  { starts: 'd0cf11e0a1b11ae1', kind: 'an Excel workbook (.xls)' },
  { starts: '25504446', kind: 'a PDF' },
  { starts: '1f8b', kind: 'a gzip archive' },
  { starts: '89504e47', kind: 'a picture' },
  { starts: 'ffd8ff', kind: 'a picture' },
  { starts: '3c21444f4354595045', kind: 'a web page' },
  { starts: '3c68746d6c', kind: 'a web page' },
  { starts: '3c3f786d6c', kind: 'XML' },
];

function refuseWhatIsNotText(path: string, head: Buffer): void {
  const kind = kindThatIsNotText(head);
  if (kind === null) return;
  throw new UnreadableFile({
    code: 'not-text',
    severity: 'error',
    file: path,
    message: `this is ${kind}, not CSV or JSON`,
    advice: /Excel|spreadsheet/.test(kind)
      ? 'open it in the spreadsheet program, format the id columns as text, and save as "CSV UTF-8 (comma delimited)"'
      : 'export the companies as CSV in UTF-8, or as JSON',
  });
}

function kindThatIsNotText(head: Buffer): string | null {
  const hex = head.toString('hex');
  if (hex.startsWith('504b0304')) return kindOfZip(head.toString('latin1'));
  const known = KINDS_THAT_ARE_NOT_TEXT.find(({ starts }) => hex.startsWith(starts));
  if (known) return known.kind;
  return encodingOf(head) === 'utf-8' && nulShare(head) > 0.05 ? 'a binary file' : null;
}

/** Workbooks are zip archives; their first entries tell them from others. */
function kindOfZip(head: string): string {
  if (head.includes('[Content_Types].xml') || head.includes('xl/')) return 'an Excel workbook (.xlsx)';
  if (head.includes('opendocument.spreadsheet')) return 'an OpenDocument spreadsheet (.ods)';
  return 'a zip archive';
}

const nulShare = (head: Buffer): number => head.filter((byte) => byte === 0).length / Math.max(1, head.length);

/** By the byte order mark; without one, UTF-16 shows by a zero in nearly every other byte. */
function encodingOf(head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const mark = head.toString('hex', 0, 2);
  if (mark === 'fffe') return 'utf-16le';
  if (mark === 'feff') return 'utf-16be';
  const zerosAt = (parity: number): number => head.filter((byte, i) => i % 2 === parity && byte === 0).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  const mostlyZero = head.length * 0.3;
  if (odd > mostlyZero && even < odd / 10) return 'utf-16le';
  if (even > mostlyZero && odd < even / 10) return 'utf-16be';
  return 'utf-8';
}

/** The text with every line end as `\n`, so that lines are counted alike whoever wrote the file. */
async function* decoded(file: FileHandle, encoding: 'utf-8' | 'utf-16le' | 'utf-16be'): AsyncGenerator<string> {
  const decoder = iconv.getDecoder(encoding);
  let heldBack = '';
  for await (const bytes of piecesOf(file)) {
    const text = heldBack + decoder.write(bytes);
    // A carriage return at the end may be the first half of a line end.
    heldBack = text.endsWith('\r') ? '\r' : '';
    yield withPlainLineEnds(heldBack ? text.slice(0, -1) : text);
  }
  yield withPlainLineEnds(heldBack + (decoder.end() ?? ''));
}

/** Each is good until the next is asked for. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(PIECE_BYTES);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

const withPlainLineEnds = (text: string): string => text.replace(/\r\n?/g, '\n');
