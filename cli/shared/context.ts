import type { Command } from 'commander';
import type { CommandResult, Output, AlreadyWritten, Terminal } from '../terminal';

/** What every command is added with. */
export interface Context {
  readonly program: Command;
  readonly output: Output;
  readonly terminal: Terminal;
  /** What was typed, without the program's own name. */
  readonly args: readonly string[];
  /** Runs the work and shows its result. */
  readonly run: (work: () => Promise<CommandResult | AlreadyWritten>) => Promise<void>;
}
