import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/**
 * What `ferry up` leaves in the home folder while it runs, so that every other command finds it and a person needs no
 * variables. It holds keys: only its owner may read it.
 */
const runningStack = z.object({
  /** Of the process that runs it; when that is dead, so is the stack. */
  pid: z.int().positive(),
  temporal: z.object({ address: z.string(), namespace: z.string(), uiUrl: z.string().optional() }),
  databaseUrl: z.string(),
  service: z.object({
    url: z.string(),
    apiKey: z.string(),
    /** The service's own: only who manages its keys looks into it. */
    databaseUrl: z.string().optional(),
  }),
  masterKeyFile: z.string(),
  payloadKeyFile: z.string(),
});

export type RunningStack = z.infer<typeof runningStack>;

/** Where the running stack is looked for. */
export function stackFile(home: string): string {
  return path.join(home, 'stack.json');
}

/** The stack that runs in this home, if any. What a dead process left behind, or what is no such file, does not count. */
export function readRunningStack(home: string): RunningStack | undefined {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(stackFile(home), 'utf8'));
  } catch {
    return undefined; // none, or not ours to read
  }
  const stack = runningStack.safeParse(content);
  return stack.success && isAlive(stack.data.pid) ? stack.data : undefined;
}

export function writeRunningStack(home: string, stack: RunningStack): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const unfinished = `${stackFile(home)}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, stackFile(home));
}

/** Removes the file, unless another stack has taken its place. */
export function removeRunningStack(home: string, pid: number): void {
  const other = readRunningStack(home);
  if (other === undefined || other.pid === pid) rmSync(stackFile(home), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing: asks whether it could
    return true;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}
