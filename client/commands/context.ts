import type { Command } from 'commander';
import type { CommandResult, Screen } from '../screen';
import type { Terminal } from '../screen';

/** What every command is added with. */
export interface Context {
  readonly program: Command;
  readonly screen: Screen;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C: a command that waits ends in order. */
  readonly interrupted: AbortSignal;
  /** Runs the work and shows its result. */
  run(work: () => Promise<CommandResult>): Promise<void>;
}
