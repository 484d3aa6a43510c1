import { once } from 'node:events';
import { inGroups } from '../../domain/text/groups';
import { layTable, styled, TableLayout, type Style, type TableCell, type TableColumn } from './table';
import type { Terminal } from './terminal';

/**
 * What a command found out or did: one value for programs, words for people.
 *
 * With `--json` exactly one value is written to standard output, whether the command succeeded or not. `schema` names
 * its form, and the number after the slash changes when a field is renamed, removed or given another meaning.
 */
export interface CommandResult {
  readonly json: { readonly schema: `ferry.${string}/${number}` } & Readonly<Record<string, unknown>>;
  readonly print: (screen: Output) => void;
  /** What `--quiet` leaves of that, where something was done and nothing asked; a failure is told in full. */
  readonly quietly?: (screen: Output) => void;
  /** The command did its work, and the answer is no. */
  readonly failed?: boolean;
}

/** A command that has written its result itself, because it may be of any length. */
export interface Shown {
  readonly shown: true;
}

/** All that `--quiet` leaves of what was done as it was asked. */
export const NOTHING = (): void => undefined;

/** Rows of a long table that are aligned with one another. */
const LAID_AT_ONCE = 1_000;

/** The screen of one run of the command. */
export class Output {
  constructor(
    private readonly terminal: Pick<Terminal, 'stdout' | 'stderr'>,
    /** Only results are written, as JSON. */
    readonly json: boolean,
    /** Only failures are written, and what was asked for. */
    readonly quiet = false,
  ) {}

  /** Writes the result in the form that was asked for. */
  show({ json, print, quietly, failed }: CommandResult): void {
    if (this.json) this.terminal.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
    else if (this.quiet && quietly && !failed) quietly(this);
    else print(this);
  }

  /** A line that nobody has asked for: how far it is, what to do next. */
  note(text: string): void {
    if (!this.json && !this.quiet) this.line(text);
  }

  /** A line, written when the reader of the output takes it: so any number of lines takes no memory. */
  async flow(text: string): Promise<void> {
    if (!this.terminal.stdout.write(`${text}\n`)) await once(this.terminal.stdout, 'drain');
  }

  /** One JSON value that ends with a list of any length. */
  async flowJson(json: CommandResult['json'], listName: string, list: AsyncIterable<unknown>): Promise<void> {
    await this.flow(`${JSON.stringify(json, null, 2).slice(0, -2)},\n  ${JSON.stringify(listName)}: [`);
    let before = '';
    for await (const each of list) {
      if (before !== '') await this.flow(`${before},`);
      before = `    ${JSON.stringify(each)}`;
    }
    await this.flow(`${before}\n  ]\n}`);
  }

  /** A table of any length. */
  async flowTable(columns: readonly TableColumn[], rows: AsyncIterable<readonly TableCell[]>): Promise<void> {
    const layout = new TableLayout(this.terminal.stdout, columns);
    let isEmpty = true;
    for await (const group of inGroups(rows, LAID_AT_ONCE)) {
      await this.flow(layout.lay(group));
      isEmpty = false;
    }
    if (isEmpty) await this.flow(layout.lay([]));
  }

  line(text = ''): void {
    this.terminal.stdout.write(`${text}\n`);
  }

  table(columns: readonly TableColumn[], rows: readonly (readonly TableCell[])[]): void {
    this.line(layTable(this.terminal.stdout, columns, rows));
  }

  styled(style: Style, text: string): string {
    return styled(this.terminal.stdout, style, text);
  }

  /** Says on standard error what went wrong; with `--json`, as a result: `ferry.error/1`. */
  fail(message: string, advice?: string): void {
    if (this.json) {
      const error = { message, ...(advice !== undefined && { advice }) };
      this.show({ json: { schema: 'ferry.error/1', error }, print: () => undefined });
    } else {
      const { stderr } = this.terminal;
      stderr.write(`${styled(stderr, 'red', 'ferry:')} ${message}${advice === undefined ? '' : `; ${advice}`}\n`);
    }
  }
}
