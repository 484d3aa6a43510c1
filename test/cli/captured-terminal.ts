import { execFileSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';

import { z } from 'zod';
import { runFerry } from '../../cli/program';
import type { Prompts } from '../../cli/terminal/prompts';
import type { TerminalStream } from '../../cli/terminal/terminal';
import { JSON_SCHEMAS } from '../../cli/json-schemas';

/** Returns a stream that keeps the text written to it. With `columns`, the stream is a terminal with colours. */
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

const unexpected = async (question: string): Promise<never> => {
  throw new Error(`unexpected question: ${question}`);
};
const NO_PROMPTS: Prompts = {
  confirm: unexpected,
  secret: unexpected,
  text: unexpected,
  choose: unexpected,
  search: unexpected,
};

/** Runs a `ferry` command in this process and returns its exit code and output. */
export async function ferry(
  args: string[],
  columns?: number,
  env?: NodeJS.ProcessEnv,
  prompts?: Partial<Prompts>,
  userName = 'tester',
): Promise<{ exitCode: number; out: string; err: string }> {
  const [stdout, stderr] = [capturedStream(columns, env), capturedStream(columns, env)];
  const exitCode = await runFerry(args, {
    stdout,
    stderr,
    env: env ?? {},
    userName,
    interruption: () => new AbortController().signal,
    ...(prompts ? { prompts: { ...NO_PROMPTS, ...prompts } } : {}),
  });
  if (args.includes('--json')) assertDocumented(stdout.text);
  return { exitCode, out: stdout.text, err: stderr.text };
}

/**
 * Asserts that a printed command is valid in a shell as it is, and contains no placeholder. Runs the command without a
 * configuration.
 */
export async function assertValid(command: string): Promise<void> {
  const script = `set -eu; ferry() { printf '%s\\0' "$@"; }; ${command}`;
  const output = execFileSync('sh', ['-c', script], { cwd: '/', encoding: 'utf8', stdio: 'pipe' });
  const args = output.split('\0').slice(0, -1);
  expect([command, args.filter((word) => /^[A-Z]+$|[<>]|\.\.\.$/.test(word))]).toEqual([command, []]);
  // Without a configuration, a valid command fails with exit code 1. A usage error would give 2.
  const { exitCode, err } = await ferry(args, undefined, { TOKENFERRY_HOME: '/nowhere' });
  expect([command, exitCode, err]).toEqual([command, 1, err]);
}

/** Asserts that the output is exactly one JSON value and matches its schema in docs/json.md. */
function assertDocumented(out: string): void {
  const value = JSON.parse(out) as { readonly schema?: string };
  const documented = JSON_SCHEMAS.get(value.schema ?? '');
  if (!documented) throw new Error(`docs/json.md has no schema ${value.schema}`);
  const { error } = documented.schema.safeParse(value);
  if (error) throw new Error(`${value.schema} does not match docs/json.md:\n${z.prettifyError(error)}`);
}
