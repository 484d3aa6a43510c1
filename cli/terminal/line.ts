/** A line of a screen before it is drawn: what it says and how, independent of any terminal. */
import stringWidth from 'string-width';
import { harmless, styled, type Style } from './table';
import type { TerminalStream } from './terminal';

/** A piece of a line; plain text where no style is said. */
export type Span = string | { readonly text: string; readonly style: Style };

export type Line = readonly Span[];

export const textOf = (span: Span): string => (typeof span === 'string' ? span : span.text);

/** How many columns of a terminal a text takes: some characters take two, some none. */
export const widthOf = (text: string): number => stringWidth(text);

/** A text that takes at most so many columns; where something is missing it ends with an ellipsis. */
export function cut(text: string, width: number): string {
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

/** As people count them: an accent or a flag belongs to one. */
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A text that takes exactly so many columns. */
export function filled(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const short = cut(text, width);
  const room = ' '.repeat(Math.max(0, width - widthOf(short)));
  return align === 'left' ? short + room : room + short;
}

/** A text in lines of so many columns, broken between words; at most so many lines, the last one cut. */
export function wrapped(text: string, width: number, most: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    // The last line takes all the rest, and is cut.
    if (line === '' || lines.length === most - 1 || widthOf(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each) => cut(each, width));
}

/** A bar of so many columns. It is full when all is done, and not before. */
export function bar(done: number, total: number, width: number): string {
  const share = total === 0 ? 0 : done / total;
  const full = done >= total && total > 0 ? width : Math.min(width - 1, Math.floor(share * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** What the terminal is sent for a line: never wider than it is, and nothing that could steer it. */
export function painted(stream: TerminalStream, line: Line, columns: number): string {
  let left = columns;
  let text = '';
  for (const span of line) {
    if (left <= 0) break;
    const shown = cut(harmless(textOf(span)), left);
    left -= widthOf(shown);
    text += typeof span === 'string' ? shown : styled(stream, span.style, shown);
  }
  return text;
}
