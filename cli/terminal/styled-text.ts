/** Formats lines of styled text, independently of a terminal. */
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';
import { withoutUnsafeCharacters } from '../../domain/text/untrusted-text';
import type { TerminalStream } from './terminal';

export type Style = Parameters<typeof styleText>[0];

/** Styles text if the stream is a terminal and `NO_COLOR` is not set. */
export function styled(stream: TerminalStream, style: Style, text: string): string {
  return styleText(style, text, { stream });
}

/** Removes everything that could move the cursor, change colours or reorder text. */
export function withoutControlCharacters(text: string): string {
  return withoutUnsafeCharacters(stripVTControlCharacters(text));
}

/** A part of a line; a string has no style. */
export type Span = string | { readonly text: string; readonly style: Style };

export type StyledLine = readonly Span[];

export const textOf = (span: Span): string => (typeof span === 'string' ? span : span.text);

/** Returns the width of a text in terminal columns. A character takes zero, one or two columns. */
export const widthOf = (text: string): number => stringWidth(text);

/** Shortens a text to at most `width` columns. A shortened text ends with an ellipsis. */
export function truncated(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let columns = 1;
  for (const { segment } of CHARACTERS.segment(text)) {
    columns += widthOf(segment);
    if (columns > width) break;
    kept += segment;
  }
  return width < 1 ? '' : `${kept}…`;
}

/** Splits text into characters as people count them: a letter with an accent is one character. */
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Shortens or pads a text to exactly `width` columns. */
export function fitted(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const short = truncated(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(short)));
  return align === 'left' ? short + padding : padding + short;
}

/**
 * Breaks a text between words into at most `maxLines` lines of `width` columns. Shortens lines that are still too long.
 * With `Infinity` lines, nothing is shortened: words that are longer than a line are broken too.
 */
export function wrapped(text: string, width: number, maxLines: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const words = text.split(/\s+/);
  for (const word of maxLines === Infinity ? words.flatMap((each) => brokenWord(each, width)) : words) {
    const longer = line === '' ? word : `${line} ${word}`;
    // The last line takes the rest of the text.
    if (line === '' || lines.length === maxLines - 1 || widthOf(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each) => truncated(each, width));
}

/** Breaks a word into parts of at most `width` columns: after a hyphen if there is one. */
function brokenWord(word: string, width: number): readonly string[] {
  if (widthOf(word) <= width) return [word];
  const parts: string[] = [];
  let part = '';
  for (const { segment } of CHARACTERS.segment(word)) {
    if (part !== '' && widthOf(part + segment) > width) {
      const end = part.lastIndexOf('-') + 1 || part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
    }
    part += segment;
  }
  return [...parts, part];
}

/** Returns a bar of `width` columns. It is full only when everything is done. */
export function barText(done: number, total: number, width: number): string {
  const share = total === 0 ? 0 : done / total;
  const full = done >= total && total > 0 ? width : Math.min(width - 1, Math.floor(share * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** Renders a line for the terminal: at most `columns` wide, without control characters from its text. */
export function rendered(stream: TerminalStream, line: StyledLine, columns: number): string {
  let left = columns;
  let text = '';
  for (const span of line) {
    if (left <= 0) break;
    const shown = truncated(withoutControlCharacters(textOf(span)), left);
    left -= widthOf(shown);
    text += typeof span === 'string' ? shown : styled(stream, span.style, shown);
  }
  return text;
}
