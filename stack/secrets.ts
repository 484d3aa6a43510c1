import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAccount, createKey } from '../company-data-service';

/** The file of the stack's master key, made at the first start. Whoever loses it loses the credentials in the vault. */
export function masterKeyFileIn(dataFolder: string): string {
  return keyFileIn(dataFolder, 'master.key');
}

/** The file of the stack's payload key. Whoever loses it can read nothing of what Temporal keeps, and no migration goes on. */
export function payloadKeyFileIn(dataFolder: string): string {
  return keyFileIn(dataFolder, 'payload.key');
}

function keyFileIn(dataFolder: string, name: string): string {
  const file = path.join(dataFolder, name);
  if (!existsSync(file)) writePrivately(file, randomBytes(32).toString('base64'));
  return file;
}

/**
 * The orchestrator's administrator key at the stack's service. The service keeps only its digest, so it is kept here
 * from the first start on: one key for the embedded Postgres, one for each foreign one that `DATABASE_URL` has named.
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
