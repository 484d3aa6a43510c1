import type { Writable } from 'node:stream';

/** A stream that may be a terminal, as `process.stdout` is. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Where a command writes: results to one stream, everything else to the other. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
}
