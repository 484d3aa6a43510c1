/** Guesses by its bytes whether a file that is not UTF-8 is in Windows-1252, the encoding of Excel's "CSV". */

/** The counts of the bytes of a file that are not ASCII. */
export interface HighBytes {
  /** Number of bytes that are not ASCII. */
  readonly high: number;
  /** Number of bytes that no text in Windows-1252 contains. */
  readonly notWindows1252: number;
  /** Number of bytes of at least 0xc0: in Windows-1252, letters such as é, except for two signs. */
  readonly windowsLetters: number;
  /** Number of bytes that are rare in Windows-1252, but accented letters in old encodings of the Mac and DOS. */
  readonly otherLetters: number;
}

const NOT_IN_WINDOWS_1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** The euro and trade mark signs, the ellipsis, quotation marks, the bullet and dashes. */
const WINDOWS_PUNCTUATION = new Set([0x80, 0x82, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99]);

/** Counts the bytes of a file that are not ASCII, piece by piece. */
export class HighByteCounter implements HighBytes {
  high = 0;
  notWindows1252 = 0;
  windowsLetters = 0;
  otherLetters = 0;

  add(piece: Uint8Array): void {
    for (const byte of piece) {
      if (byte === 0) this.notWindows1252 += 1;
      if (byte < 0x80) continue;
      this.high += 1;
      if (NOT_IN_WINDOWS_1252.has(byte)) this.notWindows1252 += 1;
      else if (byte >= 0xc0) this.windowsLetters += 1;
      else if (byte < 0xa0 && !WINDOWS_PUNCTUATION.has(byte)) this.otherLetters += 1;
    }
  }
}

/**
 * @param highBefore number of non-ASCII bytes before the first line that is not UTF-8. If there are any, the file is
 *   damaged UTF-8.
 */
export function isProbablyWindows1252(
  { notWindows1252, windowsLetters, otherLetters }: HighBytes,
  highBefore: number,
): boolean {
  return highBefore === 0 && notWindows1252 === 0 && windowsLetters >= otherLetters;
}

/** Returns the message of the finding about a file that is not UTF-8. */
export function notUtf8Message(isWindows1252: boolean): string {
  return `this file is not UTF-8${isWindows1252 ? `; it looks like Windows-1252 (Excel's "CSV")` : ''}`;
}
