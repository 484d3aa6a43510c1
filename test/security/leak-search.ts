/** Creates unique texts (markers), and searches files for the markers in many encodings. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Prefix of all markers of a run. A file without the prefix is not searched for individual markers. */
const MARKER_PREFIX = `mark${letters(8)}`;

const markers: { readonly kind: MarkerKind; readonly text: string }[] = [];

/** `content`: a name, note or reason. `quoted`: an error text of the service, which can contain a name. */
type MarkerKind = 'credential' | 'content' | 'quoted';

/** Creates a text that exists nowhere else, so that no file contains it by chance. */
export function createMarker(kind: MarkerKind): string {
  const text = `${MARKER_PREFIX}${letters(8)}`;
  markers.push({ kind, text });
  return text;
}

/** Returns random letters. A text with digits could look like a credential and be masked. */
function letters(bytes: number): string {
  return randomBytes(bytes)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
}

/** Lists the occurrences of all markers of this kind, and of `otherTexts`, as file, text and encoding. */
export function findMarkers(
  kind: MarkerKind,
  files: readonly string[],
  otherTexts: readonly string[] = [],
): readonly string[] {
  const texts = markers.filter((each) => each.kind === kind).map(({ text }) => text);
  return files.flatMap((file) => {
    const content = readFileSync(file);
    const suspects = encodingsOf(MARKER_PREFIX).some(({ form }) => content.includes(form)) ? texts : [];
    return [...suspects, ...otherTexts].flatMap((text) =>
      encodingsOf(text)
        .filter(({ form }) => content.includes(form))
        .map(({ name }) => `${file}: ${text} ${name}`),
    );
  });
}

/** Lists the files in a folder and its subfolders. */
export function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Returns the text in each encoding for which files are searched. */
export function encodingsOf(text: string): readonly { readonly name: string; readonly form: string | Buffer }[] {
  const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'));
  const hex = bytes.join('');
  return [
    { name: 'as it is', form: text },
    { name: 'in UTF-16, little-endian', form: Buffer.from(text, 'utf16le') },
    { name: 'in UTF-16, big-endian', form: Buffer.from(text, 'utf16le').swap16() },
    { name: 'in hexadecimal', form: hex },
    { name: 'in uppercase hexadecimal', form: hex.toUpperCase() },
    { name: 'URL-encoded', form: encodeURIComponent(text) },
    { name: 'URL-encoded throughout', form: bytes.map((byte) => `%${byte}`).join('') },
    { name: 'escaped for JSON', form: JSON.stringify(text).slice(1, -1) },
    { name: 'escaped for JSON throughout', form: bytes.map((byte) => `\\u00${byte}`).join('') },
    ...(['base64', 'base64url'] as const).flatMap((encoding) =>
      [0, 1, 2].map((before) => ({
        name: `in ${encoding} after ${before}`,
        form: encodeInBase64(text, before, encoding),
      })),
    ),
  ];
}

/** Encodes a text that is part of a longer text. Omits the characters that also encode bytes before or after it. */
function encodeInBase64(text: string, before: number, encoding: 'base64' | 'base64url'): string {
  const encoded = Buffer.from(`${'-'.repeat(before)}${text}`)
    .toString(encoding)
    .replace(/=+$/, '');
  return encoded.slice(before === 0 ? 0 : 4, -3);
}
