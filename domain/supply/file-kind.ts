/** Detects from the first bytes of a file whether it is text, and its Unicode encoding. */
import type { Finding } from '../companies/finding';
import { shellQuoted } from '../text/shell-quoted';

export const UNICODE_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be'] as const;
export type UnicodeEncoding = (typeof UNICODE_ENCODINGS)[number];

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Detects the encoding from the byte order mark; null if there is none. */
export function byteOrderMarkOf(head: Uint8Array): UnicodeEncoding | null {
  const hex = hexOf(head.subarray(0, 3));
  if (hex === 'efbbbf') return 'utf-8';
  if (hex.startsWith('fffe')) return 'utf-16le';
  return hex.startsWith('feff') ? 'utf-16be' : null;
}

/**
 * Detects the Unicode encoding of a file from its first bytes. Without a byte order mark, UTF-16 is recognized only if
 * most letters are Latin, because in such a file nearly every second byte is zero.
 */
export function unicodeEncodingOf(head: Uint8Array): UnicodeEncoding {
  const mark = byteOrderMarkOf(head);
  if (mark !== null) return mark;
  const zerosAt = (parity: number): number => head.filter((byte, i) => i % 2 === parity && byte === 0).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  const mostlyZero = head.length * 0.3;
  if (odd > mostlyZero && even < odd / 10) return 'utf-16le';
  if (even > mostlyZero && odd < even / 10) return 'utf-16be';
  return 'utf-8';
}

const BINARY_KINDS: readonly { readonly starts: string; readonly kind: string }[] = [
  { starts: 'd0cf11e0a1b11ae1', kind: 'an Excel workbook (.xls) or another older Office file' },
  { starts: '25504446', kind: 'a PDF' },
  { starts: '1f8b', kind: 'a gzip archive' },
  { starts: '89504e47', kind: 'a picture' },
  { starts: 'ffd8ff', kind: 'a picture' },
  { starts: '3c21444f4354595045', kind: 'a web page' },
  { starts: '3c68746d6c', kind: 'a web page' },
  { starts: '3c3f786d6c', kind: 'XML' },
];

/** The beginning of every sealed file. */
export const SEALED_FILE_BEGINNING = '{"tokenferry":"sealed-';

/** The migration for which a file was sealed, in the first line of the file. */
const SEALED_FOR = /^[^\n]*?"migration":"([a-z0-9.-]+)"/;

/**
 * Returns the finding for a sealed file, and for a file that is neither CSV nor JSON, such as a workbook; null if the
 * file can be a table.
 *
 * @param head the first bytes of the file
 * @param migrationId the migration for which a person has chosen the file; undefined if it is not known
 */
export function notTextFinding(file: string, head: Uint8Array, migrationId?: string): Finding | null {
  const beginning = new TextDecoder().decode(head.subarray(0, SEALED_BYTES));
  if (beginning.startsWith(SEALED_FILE_BEGINNING)) return sealedFinding(file, beginning, migrationId);
  const kind = binaryKindOf(head);
  if (kind === null) return null;
  return {
    code: 'not-text',
    severity: 'error',
    file,
    message: `this is ${kind}, not CSV or JSON`,
    advice: /Excel|spreadsheet/.test(kind)
      ? 'open it in the spreadsheet program, make sure that it shows every id in full, and save it as CSV in UTF-8 (in Excel: "CSV UTF-8")'
      : 'export the data as CSV in UTF-8, or as JSON',
  };
}

/** The number of bytes of a sealed file that name its content and its migration. */
const SEALED_BYTES = 512;

function sealedFinding(file: string, beginning: string, migrationId?: string): Finding {
  const sealedFor = SEALED_FOR.exec(beginning)?.[1] ?? migrationId;
  const sealed = { code: 'sealed-file', severity: 'error', file } as const;
  if (sealedFor !== undefined && migrationId !== undefined && sealedFor !== migrationId)
    return {
      ...{ ...sealed, message: `this file has been sealed already, for ${sealedFor}, not for ${migrationId}` },
      advice: `choose the original file for ${migrationId}; this sealed file can be used only for ${sealedFor}`,
    };
  const id = sealedFor ?? "'<migration>'";
  const isApplication = beginning.startsWith(`${SEALED_FILE_BEGINNING}application`);
  const command = `${isApplication ? `application ${id} --sealed` : `credentials ${id}`} ${shellQuoted(file)}`;
  return {
    ...{ ...sealed, message: 'this file has been sealed already' },
    advice: `choose the original file, or send this sealed file to support, who stores it with: ferry ${command}; if you have signed in with ferry --portal, you can also run: ferry --portal '<link>' ${command}`,
  };
}

function binaryKindOf(head: Uint8Array): string | null {
  const hex = hexOf(head);
  if (hex.startsWith('504b0304')) return kindOfZip(String.fromCharCode(...head));
  const known = BINARY_KINDS.find(({ starts }) => hex.startsWith(starts));
  if (known) return known.kind;
  return unicodeEncodingOf(head) === 'utf-8' && shareOfZeros(head) > 0.05 ? 'a binary file' : null;
}

/** Returns the kind of a zip archive. The first entries of an archive show whether it is a workbook. */
function kindOfZip(head: string): string {
  if (head.includes('word/document.xml')) return 'a Word document (.docx)';
  if (head.includes('[Content_Types].xml') || head.includes('xl/')) return 'an Excel workbook (.xlsx)';
  if (head.includes('opendocument.spreadsheet')) return 'an OpenDocument spreadsheet (.ods)';
  return 'a zip archive';
}

const shareOfZeros = (head: Uint8Array): number => head.filter((byte) => byte === 0).length / Math.max(1, head.length);
