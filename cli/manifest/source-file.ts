import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import iconv from 'iconv-lite';

import { notTextFinding } from '../../domain/supply/file-kind';
import { decodingOf, type Decoding, type Encoding } from './encoding';
import { UnreadableFile } from '../../domain/supply/findings';
import { whyUnreadable } from '../shared/unreadable-file';

/** The maximum size of a file, enough for millions of companies. */
const MAX_BYTES = 256 * 1024 * 1024;

const HEAD_BYTES = 4096;
const PIECE_BYTES = 64 * 1024;

/**
 * A decoded text file. Lines end in `\n`, the byte order mark is removed, and undecodable bytes become U+FFFD, or `?`
 * if `decoding.replacesUndecodable` is true.
 */
export interface SourceFile {
  readonly modifiedAt: Date;
  readonly decoding: Decoding;
  /** Reads the text from its beginning, one piece at a time, on demand. */
  readonly text: () => AsyncIterable<string>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a client's file.
 *
 * @param encoding undefined: UTF-8 or UTF-16
 * @param known the decoding from an earlier call for the same file; undefined to detect it, which can require reading
 *   the whole file
 * @throws UnreadableFile if it cannot be opened, is not a regular file, is not text (a workbook, an archive, a PDF), or
 *   is too large
 */
export async function openSourceFile(path: string, encoding?: Encoding, known?: Decoding): Promise<SourceFile> {
  const file = await openRegularFile(path);
  try {
    const { size, mtime } = await file.stat();
    if (size > MAX_BYTES) throw tooLarge(path, size);
    const head = await readHead(file);
    const notText = notTextFinding(path, head);
    if (notText !== null) throw new UnreadableFile(notText);
    const decoding = known ?? (await decodingOf(path, head, encoding, () => piecesOf(file)));
    return {
      modifiedAt: mtime,
      decoding,
      text: () => decoded(file, decoding),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function tooLarge(path: string, bytes: number): UnreadableFile {
  // Rounds up, so that a file above the maximum is never shown with the maximum as its size.
  const megabytes = (count: number): number => Math.ceil(count / 1024 / 1024);
  return new UnreadableFile({
    code: 'file-too-large',
    severity: 'error',
    file: path,
    message: `the file is ${megabytes(bytes)} MB; the maximum is ${megabytes(MAX_BYTES)} MB`,
    advice: 'split a manifest into several migrations, and credentials into several files',
  });
}

async function openRegularFile(path: string): Promise<FileHandle> {
  const unreadable = { code: 'file-unreadable', severity: 'error', file: path } as const;
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe waits for its writer. The flag has no effect on a regular file.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    const advice = 'check the path and your permissions; a relative path starts at the folder where the command runs';
    throw new UnreadableFile({ ...unreadable, message: whyUnreadable(error), advice });
  }
  await file.close();
  const advice = 'specify the path of the CSV or JSON file';
  throw new UnreadableFile({ ...unreadable, message: 'this is not a file', advice });
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** Decodes the text and converts all line endings to `\n`, so that they do not affect line numbers. */
async function* decoded(file: FileHandle, { encoding, replacesUndecodable }: Decoding): AsyncGenerator<string> {
  const cleaned = (text: string): string =>
    withUnixLineEndings(replacesUndecodable ? text.replaceAll('\uFFFD', '?') : text);
  const decoder = iconv.getDecoder(encoding);
  let pending = '';
  for await (const bytes of piecesOf(file)) {
    const text = pending + decoder.write(bytes);
    // A carriage return at the end of a piece can be the first half of CR LF.
    pending = text.endsWith('\r') ? '\r' : '';
    yield cleaned(pending ? text.slice(0, -1) : text);
  }
  yield cleaned(pending + (decoder.end() ?? ''));
}

/** Reads the file in pieces that share one buffer. A piece is valid only until the next one is read. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(PIECE_BYTES);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

const withUnixLineEndings = (text: string): string => text.replace(/\r\n?/g, '\n');
