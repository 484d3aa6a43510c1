/** Runs a compiled program in its own process, as a deployment does. The program writes JSON lines. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { until } from '../async';

const DIST = path.join(__dirname, '../../../dist');

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface JsonProcess {
  /** Returns everything that the process has written to standard output and standard error. */
  output(): string;
  /** Returns the complete lines of the output. Throws if a line is not JSON. */
  lines(): readonly LogLine[];
  untilLogged(text: string): Promise<LogLine>;
  /** Sends a signal, and resolves when the process has ended: with its exit code, or null if the signal ended it. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/**
 * @param program the path of the program in `dist`, and its arguments
 * @param nodeArgs arguments of Node.js
 */
export function startJsonProcess(
  [file, ...args]: readonly [file: string, ...args: string[]],
  env: NodeJS.ProcessEnv,
  nodeArgs: readonly string[] = [],
): JsonProcess {
  const child = spawn(process.execPath, [...nodeArgs, path.join(DIST, file), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const lines = (): readonly LogLine[] =>
    output
      .slice(0, output.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogLine);
  return {
    output: () => output,
    lines,
    untilLogged: async (text) => {
      let found: LogLine | undefined;
      await until(async () => {
        found = lines().find(({ msg, why }) => `${msg} ${String(why)}`.includes(text));
        if (!found && child.exitCode !== null) throw new Error(`the process has ended:\n${output}`);
        return found !== undefined;
      });
      if (!found) throw new Error(`not logged: ${text}`);
      return found;
    },
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
    exited,
  };
}
