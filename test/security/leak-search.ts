/** Texts that are nowhere else, and the search for what is left of them, whichever way it was written. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What all markers of one run begin with: files without it need no closer look. */
const OURS = `mark${letters(8)}`;

const made: { readonly kind: Marked; readonly text: string }[] = [];

/** `content`: a name, a note, a reason. `quoted`: what the service says of a failure, which may quote a name. */
type Marked = 'credential' | 'content' | 'quoted';

/** A text that is nowhere else, so that whatever is found of it came from here. */
export function marker(kind: Marked): string {
  const text = `${OURS}${letters(8)}`;
  made.push({ kind, text });
  return text;
}

/** Letters alone, as in a name: what looks like a credential would be masked for that. */
function letters(bytes: number): string {
  return randomBytes(bytes)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
}

/** In which files a marker of this kind stands, or one of the other texts, and in which form. */
export function found(kind: Marked, files: readonly string[], others: readonly string[] = []): readonly string[] {
  const texts = made.filter((each) => each.kind === kind).map(({ text }) => text);
  return files.flatMap((file) => {
    const content = readFileSync(file);
    const suspects = formsOf(OURS).some(({ form }) => content.includes(form)) ? texts : [];
    return [...suspects, ...others].flatMap((text) =>
      formsOf(text)
        .filter(({ form }) => content.includes(form))
        .map(({ name }) => `${file}: ${text} ${name}`),
    );
  });
}

export function filesBelow(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Every way in which a text may have been written down. */
export function formsOf(text: string): readonly { readonly name: string; readonly form: string | Buffer }[] {
  const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'));
  const hex = bytes.join('');
  return [
    { name: 'as it is', form: text },
    { name: 'in UTF-16, little end first', form: Buffer.from(text, 'utf16le') },
    { name: 'in UTF-16, big end first', form: Buffer.from(text, 'utf16le').swap16() },
    { name: 'in hexadecimal', form: hex },
    { name: 'in capital hexadecimal', form: hex.toUpperCase() },
    { name: 'URL-encoded', form: encodeURIComponent(text) },
    { name: 'URL-encoded throughout', form: bytes.map((byte) => `%${byte}`).join('') },
    { name: 'escaped for JSON', form: JSON.stringify(text).slice(1, -1) },
    { name: 'escaped for JSON throughout', form: bytes.map((byte) => `\\u00${byte}`).join('') },
    ...(['base64', 'base64url'] as const).flatMap((encoding) =>
      [0, 1, 2].map((before) => ({ name: `in ${encoding} after ${before}`, form: inBase64(text, before, encoding) })),
    ),
  ];
}

/** As it stands in the middle of a longer text that was encoded: without the characters that its neighbours share. */
function inBase64(text: string, before: number, encoding: 'base64' | 'base64url'): string {
  const encoded = Buffer.from(`${'-'.repeat(before)}${text}`)
    .toString(encoding)
    .replace(/=+$/, '');
  return encoded.slice(before === 0 ? 0 : 4, -3);
}
