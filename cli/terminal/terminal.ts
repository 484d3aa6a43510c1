import type { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import type { Prompts } from './prompts';

/** A stream that may be a terminal, as `process.stdout` is. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** The terminal that a command runs in. Results go to `stdout`, everything else to `stderr`. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: NodeJS.ProcessEnv;
  /** Absent: there is no user who could answer questions. */
  readonly prompts?: Prompts;
  /** Absent: single keys cannot be read. */
  readonly keyboard?: ReadStream;
  /**
   * Returns a signal that aborts at Ctrl-C or when the process is asked to end. After the first call the process is no
   * longer ended at once, so that the command can shut down in order. Commands that never call it are ended at once.
   */
  interruption(): AbortSignal;
}
