/** Prints the text of a dialog so that its title and the questions below it stay on the screen. */
import { counted } from '../../domain/text/sentences';
import { Output } from '../terminal/output';
import type { Terminal, TerminalStream } from '../terminal/terminal';

/**
 * Number of lines for the questions: role, name and reason with their answers, the consequence, and the confirmation. A
 * line can be wrapped.
 */
const QUESTION_LINES = 10;
const DEFAULT_ROWS = 24;
/** The share of the lines that is kept from the end of the text, because warnings come last. */
const SHARE_OF_END = 1 / 3;
/** Ends a style that would have ended in a line that was left out. */
const RESET_STYLE = '\x1b[0m';

/**
 * Prints a text. If it has more lines than fit above the questions, leaves out lines in the middle.
 *
 * @param command prints the whole text in another terminal
 * @param print writes the text; its first line is the title
 */
export function printCut({ stdout }: Terminal, command: string, print: (output: Output) => void): void {
  const lines = writtenLines(stdout, print);
  if (lines.length === 0) return;
  const room = (stdout.rows ?? DEFAULT_ROWS) - QUESTION_LINES;
  const shown = lines.length <= room ? lines : withoutMiddle(stdout, lines, room, command);
  stdout.write(`${shown.join('\n')}\n`);
}

function withoutMiddle(stdout: TerminalStream, lines: readonly string[], room: number, command: string): string[] {
  const note = (count: number): string[] =>
    writtenLines(stdout, (output) =>
      output.line(`… (${counted(count, 'more line')}; to read them all, run in another terminal: ${command})`),
    );
  const noteLines = note(lines.length).length;
  const kept = Math.max(2, room - noteLines);
  // On a very low screen, the note would take more room than the lines that it replaces, or would replace none.
  if (lines.length < kept + noteLines) return [...lines];
  const end = Math.floor(kept * SHARE_OF_END);
  const reset = lines.some((line) => line.includes('\x1b')) ? RESET_STYLE : '';
  const [first = '', ...more] = note(lines.length - kept);
  return [...lines.slice(0, kept - end), reset + first, ...more, ...lines.slice(lines.length - end)];
}

function writtenLines(stdout: TerminalStream, print: (output: Output) => void): string[] {
  const pieces: string[] = [];
  const write = (piece: string): boolean => {
    pieces.push(piece);
    return true;
  };
  const stream = Object.create(stdout, { write: { value: write } }) as TerminalStream;
  print(new Output({ stdout: stream, stderr: stream }, false));
  return pieces.join('').split('\n').slice(0, -1);
}
