/** The file in which commands find the stack that `ferry up` is running. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/**
 * The content of the file. `ferry up` keeps it in Tokenferry's home folder (`TOKENFERRY_HOME`) while it is running, so
 * that other commands need no environment variables. Only its owner can read it, because it contains an API key and
 * passwords.
 */
const runningStack = z.object({
  /** Id of the process that is running the stack. If this process has ended, the file is stale. */
  pid: z.int().positive(),
  temporal: z.object({ address: z.string(), namespace: z.string() }),
  /** The read-only Web UI for clients. */
  clientUiUrl: z.string().optional(),
  /** The codec server, for Temporal's own tools. It requires no token. */
  codecUrl: z.string().optional(),
  /** The portal for clients. */
  portalUrl: z.string().optional(),
  databaseUrl: z.string(),
  /** True if `ferry up` uses the Postgres of DATABASE_URL, which it neither starts nor restarts. */
  isDatabaseExternal: z.boolean().optional(),
  /** The same database with the role of the portal. */
  portalDatabaseUrl: z.string().optional(),
  service: z.object({
    url: z.string(),
    apiKey: z.string(),
    /** The service's own database, for the commands that manage its API keys. */
    databaseUrl: z.string().optional(),
  }),
  masterKeyFile: z.string(),
  vaultSecretsFolder: z.string(),
  payloadKeyFile: z.string(),
  /** Fingerprint of the provider key with which the stack's workers sign the keys of vaults. */
  providerFingerprint: z.string().optional(),
});

export type RunningStack = z.infer<typeof runningStack>;

/** Returns the path of the running stack's file. */
export function stackFile(home: string): string {
  return path.join(home, 'stack.json');
}

/** Returns the running stack of this home folder; undefined if there is none, or if the file is stale or invalid. */
export function readRunningStack(home: string): RunningStack | undefined {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(stackFile(home), 'utf8'));
  } catch {
    return undefined; // The file is missing, is not JSON, or cannot be read by this user.
  }
  const stack = runningStack.safeParse(content);
  return stack.success && isAlive(stack.data.pid) ? stack.data : undefined;
}

/**
 * Returns whether a stack has ever run in this home folder. Only a stack creates the database of its Temporal there.
 */
export function hasRunStack(home: string): boolean {
  return existsSync(path.join(home, 'temporal.db'));
}

/** Writes the file atomically, readable only by its owner. */
export function writeRunningStack(home: string, stack: RunningStack): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const temporary = `${stackFile(home)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, stackFile(home));
}

/** Removes the file, unless another running stack has overwritten it. */
export function removeRunningStack(home: string, pid: number): void {
  const current = readRunningStack(home);
  if (current === undefined || current.pid === pid) rmSync(stackFile(home), { force: true });
}

/** Returns whether a process is running, even if it belongs to another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // Signal 0 only checks whether the process exists.
    return true;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}
