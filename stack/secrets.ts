import { createHash, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAccount, createKey } from '../company-data-service';
import { KeyInvalid, parseServiceKeys, Secret, type KeyRing } from '../security';
import { errorCode } from './ports';

/**
 * Returns the path of the stack's master key file. Creates the file if it does not exist. Without this key, the vault
 * cannot be decrypted.
 */
export function ensureMasterKeyFile(dataFolder: string): string {
  return ensureKeyFile(dataFolder, 'master.key');
}

/** Returns the folder of the vaults' secrets. Creates it if it does not exist. Erasing a secret destroys its vault. */
export function ensureVaultSecretsFolder(dataFolder: string): string {
  const folder = path.join(dataFolder, 'vault-secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Returns the path of the stack's payload key file. Creates the file if it does not exist. Without this key, no
 * migration can continue.
 */
export function ensurePayloadKeyFile(dataFolder: string): string {
  return ensureKeyFile(dataFolder, 'payload.key');
}

/**
 * Returns the keys under which the Company Data Service encrypts tokens and client secrets, from the file
 * `service.key`. Creates the file if it does not exist. Without these keys, the service does not start with its
 * existing database.
 *
 * @throws {KeyInvalid} with a message that names the file
 */
export function ensureServiceKeys(dataFolder: string): KeyRing {
  const file = ensureKeyFile(dataFolder, 'service.key');
  try {
    return parseServiceKeys(new Secret(readFileSync(file, 'utf8')));
  } catch (error) {
    throw error instanceof KeyInvalid ? new KeyInvalid(`${file}: ${error.message}`, { cause: error }) : error;
  }
}

/**
 * Returns the URL with which the portal's role connects to the ledger's database. Creates the role's password if there
 * is none, but does not create the role. The role's name is derived from the password, so that stacks that share an
 * external Postgres have different roles.
 */
export function ensurePortalDatabaseUrl(dataFolder: string, databaseUrl: string): string {
  const password = readFileSync(ensureKeyFile(dataFolder, 'portal-database.password'), 'utf8').trim();
  const url = new URL(databaseUrl);
  url.username = `tokenferry_portal_${createHash('sha256').update(password).digest('hex').slice(0, 8)}`;
  url.password = encodeURIComponent(password);
  return url.href;
}

function ensureKeyFile(dataFolder: string, name: string): string {
  const file = path.join(dataFolder, name);
  if (!existsSync(file)) createPrivately(file, randomBytes(32).toString('base64'));
  return file;
}

/** Creates a file with its complete content. Does nothing if another process has just created it. */
function createPrivately(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}.unfinished`;
  writeFileSync(unfinished, `${content}\n`, { mode: 0o600 });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Returns the API key with which the orchestrator calls the stack's service. Creates the key if there is none.
 *
 * The key is kept in a file because the service stores only a hash of the key. There is one file for the embedded
 * Postgres and one for each database in an external Postgres (`DATABASE_URL`).
 */
export async function ensureAdministratorKey(
  dataFolder: string,
  { serviceDatabaseUrl, embedded }: { serviceDatabaseUrl: string; embedded: boolean },
): Promise<string> {
  const { host, pathname } = new URL(serviceDatabaseUrl);
  const database = createHash('sha256')
    .update(host + pathname)
    .digest('hex')
    .slice(0, 8);
  const file = path.join(dataFolder, embedded ? 'administrator.key' : `administrator-${database}.key`);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const accountId = await createAccount(serviceDatabaseUrl, { name: 'Tokenferry', plan: 'paid' });
  const { key } = await createKey(serviceDatabaseUrl, { accountId, role: 'administrator' });
  writePrivately(file, key);
  return key;
}

/** Writes a file with its complete content, readable only by its owner. Replaces an earlier file. */
export function writePrivately(file: string, content: string): void {
  writeFileSync(`${file}.unfinished`, `${content}\n`, { mode: 0o600 });
  renameSync(`${file}.unfinished`, file);
}
