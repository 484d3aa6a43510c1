import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';

import { z } from 'zod';
import { runFerry } from '../../cli/program';
import type { Prompts } from '../../cli/terminal/prompts';
import type { TerminalStream } from '../../cli/terminal/terminal';
import { SCHEMA_OF } from '../../cli/json-schemas';

/** A stream that keeps what is written to it; with a width it is a colour terminal, as far as anybody can tell. */
export function capturedStream(
  columns?: number,
  env: NodeJS.ProcessEnv = {},
): TerminalStream & { readonly text: string } {
  const pieces: string[] = [];
  const stream = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece.toString());
      done();
    },
  });
  const terminal = {
    isTTY: true,
    columns,
    getColorDepth: () => WriteStream.prototype.getColorDepth({ TERM: 'xterm-256color', ...env }),
  };
  const captured = Object.defineProperty(stream, 'text', { get: () => pieces.join('') });
  return Object.assign(captured, columns === undefined ? {} : terminal) as TerminalStream & { readonly text: string };
}

const unasked = async (question: string): Promise<never> => {
  throw new Error(`nobody was to be asked: ${question}`);
};
const UNASKED: Prompts = { confirm: unasked, secret: unasked, text: unasked, choose: unasked, search: unasked };

/** Runs the command in this process, and hands back what it said and how it ended. */
export async function ferry(
  args: string[],
  columns?: number,
  env?: NodeJS.ProcessEnv,
  prompts?: Partial<Prompts>,
): Promise<{ exitCode: number; out: string; err: string }> {
  const [stdout, stderr] = [capturedStream(columns, env), capturedStream(columns, env)];
  const exitCode = await runFerry(args, {
    stdout,
    stderr,
    env: env ?? {},
    interruption: () => new AbortController().signal,
    ...(prompts ? { prompts: { ...UNASKED, ...prompts } } : {}),
  });
  if (args.includes('--json')) assertDocumented(stdout.text);
  return { exitCode, out: stdout.text, err: stderr.text };
}

/** Whatever a test makes a command print with `--json`, docs/json.md describes it: exactly one value, of a form it has. */
function assertDocumented(out: string): void {
  const value = JSON.parse(out) as { readonly schema?: string };
  const shape = SCHEMA_OF.get(value.schema ?? '');
  if (!shape) throw new Error(`docs/json.md has no form ${value.schema}`);
  const { error } = shape.schema.safeParse(value);
  if (error) throw new Error(`${value.schema} is not as docs/json.md says:\n${z.prettifyError(error)}`);
}
