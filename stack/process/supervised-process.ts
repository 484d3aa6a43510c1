/**
 * A supervised process is a child that dies with its parent, even if the parent is killed with `kill -9`.
 *
 * The parent starts `supervisor.mjs`, which starts the program. The supervisor's standard input is a pipe from the
 * parent. When the parent ends, the operating system closes that pipe, and the supervisor stops the program: first with
 * the program's stop signal and, after a grace period, with SIGKILL for its whole process group. Supervisor and program
 * have process groups of their own. Ctrl-C in the terminal therefore does not reach them, and the parent can finish
 * using the program first.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

export interface SupervisedProcess {
  /** The program's process id, which differs from the supervisor's; null if the program could not be started. */
  readonly pid: Promise<number | null>;
  /** Resolves with the exit code when the program has ended. */
  readonly exited: Promise<number>;
  hasExited(): boolean;
  /** Stops the program and resolves when it has ended. Can be called more than once. */
  stop(): Promise<void>;
}

export interface SupervisedProgram {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** The program's output is appended to this file. */
  logFile: string;
  /** The signal that asks the program to shut down. */
  stopSignal: NodeJS.Signals;
  /** Milliseconds from the stop signal to SIGKILL. */
  graceMs: number;
  /** The user to run the program as. Requires root. Default: the user of this process. */
  user?: { uid: number; gid: number } | undefined;
  /** A temporary folder. Several supervisors can share it; the last one that stops removes it. */
  removeFolder?: string | undefined;
}

export function startSupervised({ env, ...program }: SupervisedProgram): SupervisedProcess {
  const supervisor = spawn(process.execPath, [path.join(__dirname, 'supervisor.mjs'), JSON.stringify(program)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env,
  });
  let running = true;
  const exited = new Promise<number>((resolve) => {
    const onEnd = (code: number): void => {
      running = false;
      resolve(code);
    };
    supervisor.once('exit', (code) => onEnd(code ?? 1));
    supervisor.once('error', () => onEnd(127));
  });
  // A broken pipe means that the supervisor has already ended, which resolves `exited`.
  supervisor.stdin.on('error', () => undefined);
  const pid = once(supervisor.stdout, 'data').then(
    ([line]) => Number(line),
    () => null,
  );
  return {
    pid: Promise.race([pid, exited.then(() => null)]),
    exited,
    hasExited: () => !running,
    stop: async () => {
      supervisor.stdin.end();
      await exited;
    },
  };
}

/** Returns the last lines of a log file, for an error message; an empty string if the file cannot be opened. */
export function tailOf(logFile: string, lines = 8): string {
  const maxBytes = 8_192;
  let file: number;
  try {
    file = openSync(logFile, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(file);
  }
}
