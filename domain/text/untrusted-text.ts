/**
 * Handles text that people or the service wrote. Some characters are invisible but change what people see:
 * control characters, line separators, tags, annotation marks, and the format characters that reorder text (Unicode TR
 * 36, "Bidirectional Text Spoofing"). Joiners are allowed, because names in Persian and Indian scripts need them.
 */
const UNSAFE_CLASS =
  '\\p{Cc}\\p{Zl}\\p{Zp}\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u206F\\uFFF9-\\uFFFB\\u{E0000}-\\u{E007F}';

const UNSAFE = new RegExp(`[${UNSAFE_CLASS}]+`, 'gu');
const UNSAFE_IN_LINES = new RegExp(`(?![\\n\\r\\t])[${UNSAFE_CLASS}]`, 'gu');

/** The fields of an untrusted value. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of an untrusted value; none if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Returns whether text contains an unsafe character. */
export function hasUnsafeCharacters(text: string): boolean {
  return text.search(UNSAFE) !== -1;
}

/** Returns whether text of several lines contains an unsafe character other than line breaks and tabs. */
export function hasUnsafeCharactersInMultilineText(text: string): boolean {
  return text.search(UNSAFE_IN_LINES) !== -1;
}

/** Replaces each run of unsafe characters with one space. */
export function withoutUnsafeCharacters(text: string): string {
  return text.replace(UNSAFE, ' ');
}

/** Replaces each unsafe character, except line breaks and tabs, with a space. */
export function withoutUnsafeCharactersInMultilineText(text: string): string {
  return text.replace(UNSAFE_IN_LINES, ' ');
}

/** Replaces unsafe characters, except line breaks and tabs, with JSON escapes such as `\u202e`. */
export function escapedUnsafeCharacters(json: string): string {
  return json.replace(UNSAFE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const code = character.charCodeAt(index).toString(16);
      return `\\u${code.padStart(4, '0')}`;
    }).join(''),
  );
}

/**
 * Escapes text for one line of Markdown, so that it is shown unchanged. Text from people or the service could otherwise
 * contain links, images or HTML. Markdown also turns a bare address into a link.
 */
export function escapedMarkdown(text: string): string {
  return withoutUnsafeCharacters(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|~&]/g, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`);
}

/** Returns an address that Markdown shows as a link; escapes text that is not a plain web address. */
export function markdownLink(text: string): string {
  return /^https?:\/\/[\w.:/?#=&%~+@,;-]+$/.test(text) ? text : escapedMarkdown(text);
}
