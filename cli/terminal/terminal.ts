/**
 * The terminal: output to people and programs, and input from people.
 *
 * In this folder, `output` writes the result of a command as text or JSON. `table`, `progress-bar`, `live-block` and
 * `full-screen` show text; `styled-text`, `line-breaks` and `times` format it. `prompts` asks questions, and `keyboard`
 * reads single keys.
 */
import type { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import type { Prompts } from './prompts';

/** A stream that can be a terminal, as `process.stdout` is. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** The terminal that a command runs in. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: NodeJS.ProcessEnv;
  /** The user of the operating system. Default: the user that runs the process. */
  readonly userName?: string;
  /** Absent if there is no user to answer questions. */
  readonly prompts?: Prompts;
  /** Absent if single keys cannot be read. */
  readonly keyboard?: ReadStream;
  /**
   * Returns a signal that aborts on Ctrl-C or when the process is asked to end. A command that has called this function
   * can then shut down in an orderly way; any other command ends immediately.
   */
  interruption(): AbortSignal;
}
