/** The file by which commands find the stack that `ferry up` runs. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/**
 * Written to the home folder while `ferry up` runs, so that other commands need no environment variables. It contains
 * an API key and passwords, so only its owner can read it.
 */
const runningStack = z.object({
  /** Process that runs the stack. If it is dead, the file is stale. */
  pid: z.int().positive(),
  temporal: z.object({ address: z.string(), namespace: z.string(), uiUrl: z.string().optional() }),
  databaseUrl: z.string(),
  service: z.object({
    url: z.string(),
    apiKey: z.string(),
    /** Database of the service itself, for the commands that manage its API keys. */
    databaseUrl: z.string().optional(),
  }),
  masterKeyFile: z.string(),
  payloadKeyFile: z.string(),
});

export type RunningStack = z.infer<typeof runningStack>;

/** Returns the path of the running stack's file. */
export function stackFile(home: string): string {
  return path.join(home, 'stack.json');
}

/** Returns the stack that runs in this home folder; undefined if there is none, or the file is stale or invalid. */
export function readRunningStack(home: string): RunningStack | undefined {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(stackFile(home), 'utf8'));
  } catch {
    return undefined; // Missing, or not readable by this user.
  }
  const stack = runningStack.safeParse(content);
  return stack.success && isAlive(stack.data.pid) ? stack.data : undefined;
}

/** Writes the file atomically, readable only by its owner. */
export function writeRunningStack(home: string, stack: RunningStack): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const temporary = `${stackFile(home)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, stackFile(home));
}

/** Removes the file, unless another running stack has replaced it. */
export function removeRunningStack(home: string, pid: number): void {
  const current = readRunningStack(home);
  if (current === undefined || current.pid === pid) rmSync(stackFile(home), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // Signal 0 only checks whether the process exists.
    return true;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}
