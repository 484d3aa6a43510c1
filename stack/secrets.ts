import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAccount, createKey } from '../company-data-service';

/**
 * Returns the file of the stack's master key; creates it at the first start. Without it the vault cannot be decrypted.
 */
export function masterKeyFileIn(dataFolder: string): string {
  return keyFileIn(dataFolder, 'master.key');
}

/** Returns the file of the stack's payload key; creates it at the first start. Without it no migration can continue. */
export function payloadKeyFileIn(dataFolder: string): string {
  return keyFileIn(dataFolder, 'payload.key');
}

function keyFileIn(dataFolder: string, name: string): string {
  const file = path.join(dataFolder, name);
  if (!existsSync(file)) writePrivately(file, randomBytes(32).toString('base64'));
  return file;
}

/**
 * Returns the orchestrator's API key for the stack's service; creates it at the first start. It is kept in a file,
 * because the service stores only its digest: one file for the embedded Postgres, one for each external one
 * (`DATABASE_URL`).
 */
export async function administratorKeyIn(
  dataFolder: string,
  { serviceUrl, embedded }: { serviceUrl: string; embedded: boolean },
): Promise<string> {
  const { host, pathname } = new URL(serviceUrl);
  const database = createHash('sha256')
    .update(host + pathname)
    .digest('hex')
    .slice(0, 8);
  const file = path.join(dataFolder, embedded ? 'administrator.key' : `administrator-${database}.key`);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const accountId = await createAccount(serviceUrl, { name: 'Tokenferry', plan: 'paid' });
  const { key } = await createKey(serviceUrl, { accountId, role: 'administrator' });
  writePrivately(file, key);
  return key;
}

function writePrivately(file: string, content: string): void {
  writeFileSync(`${file}.unfinished`, `${content}\n`, { mode: 0o600 });
  renameSync(`${file}.unfinished`, file);
}
