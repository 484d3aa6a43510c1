import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

/** A server that the embedded stack runs, and that ends when this process does. */
export interface SupervisedProcess {
  /** Resolves when the program has ended, for whatever reason, with its exit code. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  /** Stops the program, gently first, and resolves when it is gone. May be called more than once. */
  stop(): Promise<void>;
}

export interface SupervisedProgram {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Where everything that the program prints is appended. */
  logFile: string;
  /** The program's own signal for an orderly end. */
  stopSignal: NodeJS.Signals;
  /** How long the orderly end may take before the program is killed, in milliseconds. */
  graceMs: number;
  /** Run as this user instead of our own; needs root. */
  user?: { uid: number; gid: number } | undefined;
  /** A temporary folder to remove once no leashed program uses it any more. */
  removeFolder?: string | undefined;
}

/** Starts a program on a leash: see leash.mjs. */
export function startSupervised({ env, ...program }: SupervisedProgram): SupervisedProcess {
  const leash = spawn(process.execPath, [path.join(__dirname, 'supervisor.mjs'), JSON.stringify(program)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env,
  });
  let running = true;
  const exited = new Promise<number>((resolve) => {
    const ended = (code: number): void => {
      running = false;
      resolve(code);
    };
    leash.once('exit', (code) => ended(code ?? 1));
    leash.once('error', () => ended(127));
  });
  // A broken pipe means that the leash has ended already, which `exited` tells.
  leash.stdin.on('error', () => undefined);
  return {
    exited,
    hasExited: () => !running,
    stop: async () => {
      leash.stdin.end();
      await exited;
    },
  };
}

/** The last lines of a log file, for an error message; empty when there is none. */
export function tailOf(logFile: string, lines = 8): string {
  const mostBytes = 8_192;
  let file: number;
  try {
    file = openSync(logFile, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(file);
  }
}
