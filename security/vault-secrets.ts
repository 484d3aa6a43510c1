/**
 * Vault secrets: one random secret per vault, stored outside Postgres and its backups. Erasing a vault secret makes
 * every copy of the vault's private key unreadable.
 *
 * Postgres cannot erase data reliably: dead rows, planner statistics, the write-ahead log and backups keep earlier
 * contents of a table. A file that is overwritten and removed has no such copies, unless its file system or a backup
 * makes them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Secret } from './secret';

/**
 * Stores vault secrets. This is an interface, so that a secret manager that deletes every copy of a secret can replace
 * the folder.
 */
export interface VaultSecrets {
  /** Stores a new secret of 32 random bytes. `id` is not secret. */
  create(migrationId: string): Promise<{ readonly id: string; readonly secret: Secret<Buffer> }>;
  /**
   * Returns a vault's secret.
   *
   * @throws {VaultSecretMissing} when the secret was erased or lost
   * @throws {VaultSecretElsewhere} when the secret was stored in another place
   */
  read(migrationId: string, id: string): Promise<Secret<Buffer>>;
  /**
   * Erases all secrets of the migration except `keepId`. Idempotent, so that it can be repeated after an interruption.
   *
   * @param knownId the id of the secret in use, which shows whether the secret was stored in this place; null if there
   * is none
   * @throws {VaultSecretElsewhere} when the secret was stored in another place; nothing was erased
   */
  erase(migrationId: string, knownId: string | null, keepId?: string): Promise<void>;
}

/**
 * Thrown when the secret of a vault cannot be found, or the vault never had one. Unless the secret is put back, the
 * vault's sealed credentials cannot be opened.
 */
export class VaultSecretMissing extends Error {
  override readonly name = 'VaultSecretMissing';

  /** @param missing the file of the secret, which people might still have, or the reason why there is no secret */
  constructor(
    migrationId: string,
    missing: { readonly file: string } | { readonly why: string },
    options?: ErrorOptions,
  ) {
    super(
      `The sealed credentials of ${migrationId} cannot be opened, because ` +
        ('file' in missing
          ? `the file of their vault secret is missing: ${missing.file}. ` +
            'If you still have this file, put it back. Only if the file is lost, '
          : `${missing.why}. To replace the credentials, `) +
        renewal(migrationId),
      options,
    );
  }
}

/** Thrown when the secret of a vault was stored in a place other than the one that this process uses. */
export class VaultSecretElsewhere extends Error {
  override readonly name = 'VaultSecretElsewhere';

  /**
   * @param situation `destroying`: the vault was to be destroyed, and nothing is supplied to it any more. `key-lost`:
   * the vault was to be renewed because its master key is lost, so the renewal needs both options. `null`: any
   * other situation
   */
  constructor(
    migrationId: string,
    readonly folder: string,
    situation: 'destroying' | 'key-lost' | null = null,
  ) {
    const lost =
      situation === 'destroying'
        ? `run "ferry vault renew ${migrationId} --folder-lost"; a worker then destroys the credentials.`
        : renewal(migrationId, situation === 'key-lost' ? ' --folder-lost --key-lost' : ' --folder-lost');
    super(
      `The folder ${folder} on this machine is not the one in which the vault secret of ${migrationId} was stored. ` +
        'Check that the shared storage is mounted, and that TOKENFERRY_VAULT_SECRETS names it, here and for every worker. ' +
        `Only if the shared folder is lost for good, ${lost}`,
    );
  }
}

/** Returns the end of a sentence: how to replace the client's credentials if a vault can no longer be opened. */
export const renewal = (migrationId: string, option = ''): string =>
  `pause the migration, wait a minute, run "ferry vault renew ${migrationId}${option}", have the client supply its ` +
  `credentials again, and resume the migration with "ferry resume ${migrationId}".`;

const SECRET_BYTES = 32;
const ID_BYTES = 8;
/**
 * The file that identifies a folder. With it, a worker that uses another folder recognizes that a secret is stored
 * elsewhere. Otherwise, the worker would conclude that the secret was erased.
 */
const IDENTITY_FILE = 'folder.id';

/**
 * Stores vault secrets as files in an existing folder. All workers of a database use the same folder. An id consists of
 * the folder's id and a random part.
 */
export function createVaultSecretFolder(folder: string): VaultSecrets {
  const fileOf = (migrationId: string, id: string): string => path.join(folder, `${prefixOf(migrationId)}${id}`);

  async function isFrom(id: string): Promise<boolean> {
    return id.split('-')[0] === (await readIdentity(folder));
  }

  return {
    async create(migrationId) {
      const id = `${await ensureIdentity(folder)}-${randomId()}`;
      const secret = randomBytes(SECRET_BYTES);
      await writeDurably(folder, fileOf(migrationId, id), secret);
      return { id, secret: new Secret(secret) };
    },

    async read(migrationId, id) {
      if (!(await isFrom(id))) throw new VaultSecretElsewhere(migrationId, folder);
      try {
        return new Secret(await readFile(fileOf(migrationId, id)));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        throw new VaultSecretMissing(migrationId, { file: fileOf(migrationId, id) }, { cause: error });
      }
    },

    async erase(migrationId, knownId, keepId) {
      if (knownId !== null && !(await isFrom(knownId)))
        throw new VaultSecretElsewhere(migrationId, folder, keepId === undefined ? 'destroying' : null);
      const names = (await readdir(folder)).filter((name) => name.startsWith(prefixOf(migrationId)));
      const kept = keepId === undefined ? undefined : path.basename(fileOf(migrationId, keepId));
      for (const name of names) if (name !== kept) await eraseFile(path.join(folder, name));
      if (names.length > 0) await syncFolder(folder);
    },
  };
}

/** Hashes the migration's id, because the client's name in that id must not appear in a listing of this folder. */
function prefixOf(migrationId: string): string {
  return `${createHash('sha256').update(migrationId).digest('hex').slice(0, 32)}.`;
}

const randomId = (): string => randomBytes(ID_BYTES).toString('hex');

async function readIdentity(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(folder, IDENTITY_FILE), 'utf8')).trim();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Creates the identity at the first use. If several processes do so concurrently, only the first identity is kept, and
 * every process returns it.
 */
async function ensureIdentity(folder: string): Promise<string> {
  const existing = await readIdentity(folder);
  if (existing !== undefined) return existing;
  const unfinished = path.join(folder, `.${randomId()}`);
  await writeDurably(folder, unfinished, Buffer.from(`${randomId()}\n`));
  try {
    await link(unfinished, path.join(folder, IDENTITY_FILE));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(unfinished);
  }
  await syncFolder(folder);
  return ensureIdentity(folder);
}

/** Writes a file that only its owner can read. Even after a crash, the file is either complete or absent. */
async function writeDurably(folder: string, file: string, content: Buffer): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await syncFolder(folder);
}

/** Overwrites the file in place, flushes it to the disk and removes it. Does nothing if the file no longer exists. */
async function eraseFile(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r+');
    try {
      const { size } = await handle.stat();
      await handle.write(randomBytes(Math.max(size, 1)), 0, undefined, 0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rm(file);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Flushes the folder's entries to disk. Does nothing on Windows, because Windows cannot open a folder and flushes
 * entries itself.
 */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const isNotFound = (error: unknown): boolean => hasCode(error, 'ENOENT');

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
