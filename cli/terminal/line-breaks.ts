/** Breaks lines between words, because a terminal would break them within words. */
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from './styled-text';

/**
 * A word of a shell command. It ends before a comma, a semicolon or a parenthesis that a space or the line's end
 * follows.
 */
const SHELL_WORD = String.raw`(?:\\.|"[^"]*"|'[^']*'|[^\s"';,)]|["';,)](?=\S))+`;

/** A command, or its options, at the beginning of a line, or after a colon or a parenthesis. Printed to be pasted. */
const COMMAND = String.raw`(?<=(?:^|[:(])(?:\s|\u001b\[[\d;]*m)*)(?:ferry|--\w[\w-]*)(?: +${SHELL_WORD})+`;

/** The spaces before a piece of a line, and the piece, which is not broken: a command or a word. */
const PIECE = new RegExp(String.raw`( *)((?:${COMMAND}|ferry [a-z-]+|[^ ])+)`, 'gu');

/**
 * The part of a line before its text: spaces and a mark, or a label and the gap after it. If the line is broken, its
 * later lines begin below the text.
 */
const MARK = /^ *(?:[✓✗!-] )?/u;
const LABEL = /^.*\S {2,}(?=\S)/u;

/**
 * Breaks each line of a text into lines of `width` columns. Later lines are indented as far as the text of the first.
 * A command stays on one line, so that it can be pasted, even if it is longer than the terminal is wide.
 */
export function brokenIntoLines(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= width ? line : brokenLine(line, width)))
    .join('\n');
}

function brokenLine(text: string, width: number): string {
  const indent = ' '.repeat(indentOf(stripVTControlCharacters(text), width));
  const lines: string[] = [];
  let line = '';
  for (const [, gap = '', piece = ''] of text.matchAll(PIECE)) {
    const isFirst = lines.length === 0 && line === '';
    const longer = line + gap + piece;
    // A break does not help if the piece is too long for a line of its own.
    if (isFirst || widthOf(longer) <= width || widthOf(indent + piece) > width) line = longer;
    else {
      lines.push(line);
      line = indent + piece;
    }
  }
  return [...lines, line].join('\n');
}

function indentOf(line: string, width: number): number {
  const label = widthOf(LABEL.exec(line.slice(0, Math.floor(width / 2)))?.[0] ?? '');
  return Math.max(label, widthOf(MARK.exec(line)?.[0] ?? ''));
}
