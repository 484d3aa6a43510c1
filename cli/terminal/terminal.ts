import type { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import type { Prompts } from './prompts';

/** A stream that may be a terminal, as `process.stdout` is. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Where a command runs: results go to one stream, everything else to the other. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly env: NodeJS.ProcessEnv;
  /** Absent: nobody sits there who could answer. */
  readonly prompts?: Prompts;
  /** Absent: what is typed there cannot be read key by key. */
  readonly keyboard?: ReadStream;
  /**
   * Aborts at Ctrl-C, or when the process is asked to end. From the first call on that is all that happens: whoever
   * asks ends in order. Commands that do not ask are ended at once.
   */
  interruption(): AbortSignal;
}
