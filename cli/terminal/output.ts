import { inChunks } from '../../domain/text/streams';
import { jsonPieces, jsonText } from '../../client/text-formats';
import { withoutUnsafeCharactersInMultilineText } from '../../domain/text/untrusted-text';
import { brokenIntoLines } from './line-breaks';
import { styled, type Style } from './styled-text';
import { TableFormatter, type TableCell, type TableColumn } from './table';
import type { Terminal, TerminalStream } from './terminal';

/**
 * The result of a command: JSON for programs, text for people.
 *
 * With `--json`, exactly one JSON value is written to standard output, whether the command succeeded or not. `schema`
 * identifies its schema. The number after the slash changes when a field is renamed, removed or given another meaning.
 */
export interface CommandResult {
  readonly json: { readonly schema: `ferry.${string}/${number}` } & Readonly<Record<string, unknown>>;
  readonly print: (output: Output) => void;
  /** Prints the result with `--quiet`, unless the command failed. Absent if it is the same as `print`. */
  readonly printQuietly?: (output: Output) => void;
  /** True if the command failed or found a problem. The exit code is then 1, although no error was thrown. */
  readonly failed?: boolean;
}

/** Returns the result with a text that is printed after its own. */
export function withMoreText(result: CommandResult, printMore: CommandResult['print']): CommandResult {
  const print = (output: Output): void => {
    result.print(output);
    printMore(output);
  };
  return { ...result, print };
}

/** The result of a command that has already written its output, for example output of any length. */
export interface AlreadyWritten {
  readonly written: true;
  /** True if the exit code is 1, although no error was thrown. */
  readonly failed?: boolean;
}

/**
 * Thrown when the reader of a streamed result has closed the pipe, as `head` does. The rest of the result is dropped.
 */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';

  constructor(cause: Error) {
    super('the output was closed', { cause });
  }
}

/** Prints nothing. The `printQuietly` of commands whose result is of no use to a script. */
export const PRINT_NOTHING = (): void => undefined;

/** Number of rows of a long table that are formatted together. */
const ROWS_PER_PART = 1_000;

/** Writes the output of one run of the command. */
export class Output {
  constructor(
    private readonly terminal: Pick<Terminal, 'stdout' | 'stderr'>,
    /** True to write only the result, as JSON, and warnings. */
    readonly json: boolean,
    /** True to write only warnings, failures and the requested data. */
    readonly quiet = false,
  ) {}

  show({ json, print, printQuietly: quietly, failed }: CommandResult): void {
    if (this.json) this.terminal.stdout.write(`${jsonText(json, 2)}\n`);
    else if (this.quiet && quietly && !failed) quietly(this);
    else print(this);
  }

  /** Writes a line of progress or advice. Does nothing with `--json` or `--quiet`. */
  note(text: string): void {
    if (!this.json && !this.quiet) this.line(text);
  }

  /**
   * Writes a line. Waits if the reader is behind, so that long output does not fill the memory.
   *
   * @throws OutputClosed
   */
  async stream(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.terminal.stdout.write(`${text}\n`, (error) => (error ? reject(new OutputClosed(error)) : resolve()));
    });
  }

  /** Writes one JSON value whose last field is a list of any length. */
  async streamJson(json: CommandResult['json'], listName: string, list: AsyncIterable<unknown>): Promise<void> {
    for await (const piece of jsonPieces(json, listName, list)) await this.stream(piece);
  }

  /** Writes a table of any length. */
  async streamTable(
    columns: readonly (TableColumn | string)[],
    rows: AsyncIterable<readonly TableCell[]>,
  ): Promise<void> {
    const formatter = new TableFormatter(this.terminal.stdout, columns.map(asColumn));
    let isEmpty = true;
    for await (const group of inChunks(rows, ROWS_PER_PART)) {
      await this.stream(formatter.format(group));
      isEmpty = false;
    }
    if (isEmpty) await this.stream(formatter.format([]));
  }

  /** Writes text. Breaks lines that are wider than the terminal: between words, but not within commands. */
  line(text = ''): void {
    writeLines(this.terminal.stdout, text);
  }

  /** Writes text whose lines must not be broken, for example a script. */
  verbatim(text: string): void {
    this.terminal.stdout.write(`${printable(text)}\n`);
  }

  /**
   * Writes a table. If the terminal has no room for some columns, a line below the table says how to see them.
   *
   * @returns true if this line was written
   */
  table(columns: readonly (TableColumn | string)[], rows: readonly (readonly TableCell[])[]): boolean {
    const formatter = new TableFormatter(this.terminal.stdout, columns.map(asColumn));
    this.verbatim(formatter.format(rows));
    const leftOut = formatter.leftOut(rows);
    if (leftOut !== null) this.line(leftOut);
    return leftOut !== null;
  }

  styled(style: Style, text: string): string {
    return styled(this.terminal.stdout, style, text);
  }

  /** Writes a warning to standard error, even with `--json` or `--quiet`. */
  warn(text: string): void {
    const { stderr } = this.terminal;
    writeLines(stderr, `${styled(stderr, 'yellow', 'ferry:')} ${text}`);
  }

  /** Writes an error to standard error; with `--json`, to standard output as `ferry.error/1`. */
  fail(message: string, advice?: string): void {
    if (this.json) {
      const error = { message, ...(advice !== undefined && { advice }) };
      this.show({ json: { schema: 'ferry.error/1', error }, print: () => undefined });
    } else {
      const { stderr } = this.terminal;
      writeLines(stderr, `${styled(stderr, 'red', 'ferry:')} ${message}${advice === undefined ? '' : `; ${advice}`}`);
    }
  }
}

/** A column without options can be given as its title. */
const asColumn = (column: TableColumn | string): TableColumn =>
  typeof column === 'string' ? { title: column } : column;

function writeLines(stream: TerminalStream, text: string): void {
  stream.write(`${fittedTo(stream, text)}\n`);
}

/** Makes text safe to print, and breaks lines that are longer than the terminal is wide. */
export function fittedTo(stream: TerminalStream, text: string): string {
  return stream.columns === undefined ? printable(text) : brokenIntoLines(printable(text), stream.columns);
}

/** Colours and styles (SGR), the only control sequences that `printable` keeps. */
const STYLE = new RegExp(`(${String.fromCharCode(27)}\\[[\\d;]*m)`);

/**
 * Makes text safe for a terminal: keeps styles, line breaks and tabs, and removes everything else that could change the
 * screen.
 */
function printable(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : withoutUnsafeCharactersInMultilineText(part.replaceAll('\r', ' '))))
    .join('');
}
