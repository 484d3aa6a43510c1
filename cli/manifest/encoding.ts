/**
 * Detects the encoding of a client's file. Reports an error if the file contradicts `--encoding`. Without this option,
 * reports an error if the file is neither UTF-8 nor UTF-16.
 */
import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';

import type { Finding } from '../../domain/companies/finding';
import { byteOrderMarkOf, UNICODE_ENCODINGS, unicodeEncodingOf } from '../../domain/supply/file-kind';
import {
  HighByteCounter,
  isProbablyWindows1252,
  notUtf8Message,
  type HighBytes,
} from '../../domain/supply/windows-1252';
import { choiceOption } from '../options/options';

/** The encodings in which a file can be read. Excel's "CSV" is Windows-1252 in Western Europe and America. */
const ENCODINGS = [
  ...UNICODE_ENCODINGS,
  ...['windows-1252', 'windows-1250', 'windows-1251', 'iso-8859-15', 'macintosh'],
] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface EncodingOption {
  /** Absent: UTF-8 or UTF-16. */
  readonly encoding?: Encoding | undefined;
}

/** Adds `--encoding <name>`. */
export function addEncoding(command: Command): Command {
  const description = `encoding of the file if it is neither UTF-8 nor UTF-16, e.g. windows-1252 for Excel's "CSV"`;
  return command.addOption(choiceOption('--encoding <name>', description, ENCODINGS));
}

/** How to read a file. */
export interface Decoding {
  readonly encoding: Encoding;
  /**
   * True to read undecodable bytes as `?`. The finding has already reported the wrong encoding, so the rows must not
   * report these bytes again.
   */
  readonly replacesUndecodable: boolean;
  /** An error that concerns the whole file. The file is still read, so that its other errors are found as well. */
  readonly finding: Finding | null;
}

/**
 * Decides how to read a file.
 *
 * @param head the first bytes of the file
 * @param requested the encoding that the user specified; undefined to detect it
 * @param pieces reads the bytes of the whole file
 */
export async function decodingOf(
  path: string,
  head: Buffer,
  requested: Encoding | undefined,
  pieces: () => AsyncIterable<Buffer>,
): Promise<Decoding> {
  const mark = byteOrderMarkOf(head);
  const encoding = requested ?? unicodeEncodingOf(head);
  const finding = { severity: 'error', file: path } as const;
  const asRequested = { encoding, replacesUndecodable: false, finding: null };
  const readAs = (actual: Encoding, message: string): Decoding => ({
    ...{ encoding: actual, replacesUndecodable: false },
    finding: { ...finding, code: 'wrong-encoding', message, advice: 'leave out --encoding' },
  });
  if (mark !== null && mark !== encoding)
    return readAs(mark, `this file begins with the byte order mark of ${mark.toUpperCase()}, so it is not ${encoding}`);
  if (encoding.startsWith('utf-16')) return asRequested;

  const bytes = await countBytes(pieces());
  if (encoding !== 'utf-8') {
    const isUnicode = bytes.notUtf8At === null && bytes.high > 0;
    return isUnicode ? readAs('utf-8', `this file is UTF-8, not ${encoding}`) : asRequested;
  }
  if (bytes.notUtf8At === null) return asRequested;
  const isWindows1252 = mark === null && isProbablyWindows1252(bytes, bytes.highBefore);
  // Suggests `--encoding` only without a byte order mark, which another encoding would contradict.
  const orOption = isWindows1252 ? ', or add: --encoding windows-1252' : ', or specify its encoding with --encoding';
  const advice = `save the file as UTF-8 (in Excel: "CSV UTF-8")${mark === null ? orOption : ''}`;
  return {
    encoding: isWindows1252 ? 'windows-1252' : encoding,
    replacesUndecodable: true,
    finding: { ...finding, code: 'not-utf8', line: bytes.notUtf8At, message: notUtf8Message(isWindows1252), advice },
  };
}

interface ByteCounts extends HighBytes {
  /** The number of the first line that is not UTF-8, starting at 1; null if the whole file is UTF-8. */
  readonly notUtf8At: number | null;
  /** Number of non-ASCII bytes before the first line that is not UTF-8. */
  readonly highBefore: number;
}

async function countBytes(pieces: AsyncIterable<Buffer>): Promise<ByteCounts> {
  const counter = new HighByteCounter();
  let highBefore = 0;
  let notUtf8At: number | null = null;
  let line = 1;
  let incomplete = Buffer.alloc(0);
  const check = (bytes: Buffer): void => {
    if (notUtf8At !== null) return;
    const end = endOfUtf8(bytes);
    const valid = bytes.subarray(0, end);
    line += valid.filter((byte) => byte === LINE_FEED).length;
    highBefore += valid.filter((byte) => byte >= 0x80).length;
    if (end < bytes.length) notUtf8At = line;
  };
  for await (const piece of pieces) {
    counter.add(piece);
    const bytes = Buffer.concat([incomplete, piece]);
    const end = bytes.length - incompleteTail(bytes);
    check(bytes.subarray(0, end));
    incomplete = bytes.subarray(end);
  }
  check(incomplete);
  const { high, notWindows1252, windowsLetters, otherLetters } = counter;
  return { high, notWindows1252, windowsLetters, otherLetters, highBefore, notUtf8At };
}

const LINE_FEED = 0x0a;

/** Returns the index at which the first line that is not UTF-8 begins; the length if there is none. */
function endOfUtf8(bytes: Buffer): number {
  if (isUtf8(bytes)) return bytes.length;
  for (let start = 0; ;) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return start;
    start = end + 1;
  }
}

/**
 * Returns the number of bytes at the end that begin a character whose other bytes are in the next piece; 0 if there are
 * none.
 */
function incompleteTail(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    return length < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length : 0;
  }
  return 0;
}
