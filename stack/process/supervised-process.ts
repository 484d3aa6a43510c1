/**
 * A supervised process is a child that dies with its parent, even if the parent is killed with `kill -9`.
 *
 * The parent starts `supervisor.mjs`, which starts the program. The supervisor's standard input is a pipe from the
 * parent. When the parent ends, the operating system closes that pipe, and the supervisor stops the program: first with
 * the program's stop signal and, after a grace period, with SIGKILL for its whole process group. Supervisor and program
 * have their own process groups. Ctrl-C in the terminal therefore does not reach them, and the parent can finish using
 * the program first.
 */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface SupervisedProcess {
  /**
   * The process id of the program's first run, which differs from the supervisor's; null if the program could not be
   * started.
   */
  readonly pid: Promise<number | null>;
  /** Resolves with true when the program has sent a message (see `sendsReady`), and with false if it ends first. */
  readonly ready: Promise<boolean>;
  /** Resolves with the exit code when the program has ended and is not restarted; 128 + n after signal n. */
  readonly exited: Promise<number>;
  readonly logFile: string;
  hasExited(): boolean;
  /**
   * From now on, restarts the program when it ends, but not if it has ended more than five times within a minute.
   *
   * @param onEnd called each time the program ends without being stopped
   */
  keepRunning(onEnd: (end: ProgramEnd) => void): void;
  /** Stops the program and resolves when it has ended. Can be called more than once. */
  stop(): Promise<void>;
}

export interface ProgramEnd {
  /** For example `signal SIGKILL` or `exit code 1`. */
  readonly reason: string;
  readonly isRestarted: boolean;
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
  /** True for a Node program that calls `process.send` when it is ready. */
  sendsReady?: boolean;
  /** A temporary folder. Several supervisors can share it; the last one that stops removes it. */
  removeFolder?: string | undefined;
}

/** The maximum number of restarts within a minute. */
const MAX_RESTARTS = 5;
const RESTARTS_WITHIN_MS = 60_000;
/** The pause before the first restart within a minute. The pause before the n-th restart is n times as long. */
const RESTART_PAUSE_MS = 200;

export function startSupervised(program: SupervisedProgram): SupervisedProcess {
  const first = startSupervisor(program);
  let current = first;
  let onEnd: ((end: ProgramEnd) => void) | undefined;
  let exitCode: number | undefined;
  let stopping = false;

  const superviseUntilEnd = async (): Promise<number> => {
    for (let ends: number[] = []; ; current = startSupervisor(program)) {
      const code = await current.exited;
      ends = [...ends.filter((at) => at > Date.now() - RESTARTS_WITHIN_MS), Date.now()];
      const isRestarted = onEnd !== undefined && ends.length <= MAX_RESTARTS;
      if (!stopping) onEnd?.({ reason: reasonOf(code), isRestarted });
      if (!stopping && isRestarted) await delay(RESTART_PAUSE_MS * ends.length);
      if (stopping || !isRestarted) return (exitCode = code);
    }
  };
  const exited = superviseUntilEnd();
  return {
    pid: first.pid,
    ready: first.ready,
    exited,
    logFile: program.logFile,
    hasExited: () => exitCode !== undefined,
    keepRunning: (callback) => {
      onEnd = callback;
      if (exitCode !== undefined && !stopping) callback({ reason: reasonOf(exitCode), isRestarted: false });
    },
    stop: async () => {
      stopping = true;
      current.stop();
      await exited;
    },
  };
}

/** Starts the program once. */
function startSupervisor({ env, ...program }: SupervisedProgram) {
  const supervisor = spawn(process.execPath, [path.join(__dirname, 'supervisor.mjs'), JSON.stringify(program)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env,
  });
  // A broken pipe means that the supervisor has already ended, which resolves `exited`.
  supervisor.stdin.on('error', () => undefined);
  // The supervisor writes the program's process id, and a second line when the program is ready.
  const lines = createInterface({ input: supervisor.stdout })[Symbol.asyncIterator]();
  const pid = lines.next().then(({ value, done }) => (done ? null : Number(value)));
  return {
    pid,
    ready: pid.then(() => lines.next()).then(({ done }) => !done),
    exited: new Promise<number>((resolve) => {
      supervisor.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
      supervisor.once('error', () => resolve(127));
    }),
    stop: () => void supervisor.stdin.end(),
  };
}

function reasonOf(code: number): string {
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? [];
  return signal === undefined ? `exit code ${code}` : `signal ${signal}`;
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
    return bytes.toString('utf8').trimEnd().split('\n').slice(-lines).map(withoutJson).join('\n');
  } finally {
    closeSync(file);
  }
}

/** Returns a sentence with the last lines of a log file, for an error message. */
export function logEndText(logFile: string, logTail = tailOf(logFile)): string {
  return logTail === ''
    ? `Nothing could be read from its log, ${logFile}.`
    : `Its log, ${logFile}, ends with:\n${logTail}`;
}

/** Returns the message and the reason of a JSON log line; returns any other line unchanged. */
function withoutJson(line: string): string {
  if (!line.startsWith('{')) return line;
  try {
    const { msg, why, err } = JSON.parse(line) as { msg?: string; why?: string; err?: { message?: string } };
    const reason = why ?? err?.message;
    return msg === undefined ? line : [msg, ...(reason === undefined ? [] : [reason])].join(': ');
  } catch {
    return line;
  }
}
