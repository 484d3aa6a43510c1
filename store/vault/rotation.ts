/** Rotates the master key, and replaces the keys of a vault that can no longer be opened. */
import { sql } from 'kysely';
import {
  assertKeyPair,
  UnknownMasterKey,
  VaultKeyMismatch,
  VaultSecretElsewhere,
  VaultSecretMissing,
  WrappedKeyBroken,
  type VaultKeyWrapper,
  type Secret,
} from '../../security';
import { WAS_SENT } from '../companies/claim';
import type { Database, Queryable } from '../database/database';
import { readVault } from './vault';
import { createKey, lockVault, signKey, storeKey, VaultClosed } from './vault-keys';

export interface Rotation {
  /** Vaults whose key was rewrapped under the newest master key. */
  readonly rewrapped: number;
  /** Vaults whose key was already under the newest master key. */
  readonly unchanged: number;
  /**
   * Migrations whose vaults cannot be opened, because their secrets are lost, or because an earlier version created
   * them without a secret. Their keys are unchanged.
   */
  readonly lost: readonly string[];
}

/**
 * Finds the private keys that an older master key wrapped, and rewraps each of them with the newest master key and a
 * new vault secret. Works vault by vault, and erases the old secrets. After that, the old wrapped keys in the
 * database's files, log and backups can no longer be opened.
 *
 * Also signs the public keys that the provider key of the newest master key has not signed. Safe to repeat after an
 * interruption. Sealed credentials do not change.
 *
 * @throws {UnknownMasterKey | VaultSecretElsewhere | WrappedKeyBroken} vaults that were already rewrapped stay so
 * @throws {VaultKeyMismatch} when a public key was replaced; the new public key is not signed
 */
export async function rotateVaults(db: Database, keys: VaultKeyWrapper): Promise<Rotation> {
  const migrations = await db
    .selectFrom('migrations')
    .select('id')
    .where('vault_wrapped_key', 'is not', null)
    .orderBy('id')
    .execute();
  const outcomes = { rewrapped: 0, unchanged: 0 };
  const lost: string[] = [];
  for (const { id } of migrations) {
    const outcome = await db.transaction().execute(async (tx) => rewrap(tx, keys, id));
    if (outcome === 'lost') lost.push(id);
    else if (outcome !== 'destroyed') outcomes[outcome] += 1;
    // Runs after the commit, because the old secret must be kept until the new key is stored.
    if (outcome !== 'lost') await eraseSuperseded(db, keys, id);
  }
  return { ...outcomes, lost };
}

async function rewrap(
  tx: Queryable,
  keys: VaultKeyWrapper,
  migrationId: string,
): Promise<'rewrapped' | 'unchanged' | 'lost' | 'destroyed'> {
  const vault = await lockVault(tx, migrationId);
  if (!vault?.publicKey) return 'destroyed';
  if (vault.key === null) return 'lost';
  const isWrappedByNewest = vault.key.keyId === keys.newestKeyId;
  const isSigned = vault.signedBy === keys.providerPublicKey;
  if (isWrappedByNewest && isSigned) return 'unchanged';
  let privateKey: Secret<Buffer>;
  try {
    privateKey = await keys.unwrap(migrationId, vault.key);
  } catch (error) {
    if (error instanceof VaultSecretMissing) return 'lost';
    throw error;
  }
  // Without this check, a key that an attacker has put into the database would get a genuine signature.
  assertKeyPair({ publicKey: vault.publicKey, privateKey }, migrationId);
  if (!isWrappedByNewest) await storeKey(tx, migrationId, await keys.wrap(migrationId, privateKey));
  if (!isSigned) await signKey(tx, keys, { migrationId, platformKey: vault.platformKey, publicKey: vault.publicKey });
  return isWrappedByNewest ? 'unchanged' : 'rewrapped';
}

/** Erases every secret of the vault except the one in use, also those that an interrupted rotation has left. */
async function eraseSuperseded(db: Database, keys: VaultKeyWrapper, migrationId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const secretId = (await lockVault(tx, migrationId))?.secretId;
    if (secretId) await keys.erase(migrationId, secretId, secretId);
  });
}

/** The numbers of credentials and client secrets that the renewal of a vault has deleted and kept. */
export interface Renewal {
  /** Number of deleted credentials, including those whose decision was not applied yet. */
  readonly deleted: number;
  /** Number of deleted credentials that were going to replace another credential once their decision was applied. */
  readonly deletedReplacements: number;
  /** Number of credentials that were kept as a record, although they can no longer be opened. */
  readonly kept: number;
  /**
   * Number of kept credentials that were not sent yet, and whose companies are waiting to be moved. A worker must open
   * each of them before the move, so it must be supplied again.
   */
  readonly keptWaiting: number;
  /** Number of deleted client secrets. Each was sealed and not registered at the service yet. */
  readonly deletedSecrets: number;
}

/** Thrown by {@link renewVault} if the vault can still be opened. Renewing it would only destroy its credentials. */
export class VaultUsable extends Error {
  override readonly name = 'VaultUsable';

  constructor(migrationId: string) {
    super(`the vault of ${migrationId} can be opened, so it was not renewed`);
  }
}

/** Errors after which no worker can open the vault. A missing master key can be a problem of one machine. */
const UNREADABLE = [VaultKeyMismatch, VaultSecretMissing, WrappedKeyBroken];

/**
 * Creates a new key pair for a vault that can no longer be opened, and wraps it with a secret that is stored where
 * `keys` stores secrets.
 *
 * Keeps, as evidence, the credentials of companies that are not waiting, and credentials that were or might have been
 * handed over, or that replace another credential. Deletes all other credentials, staged credentials and sealed client
 * secrets, so that the client can supply them again. If a kept credential must be opened, its company fails as
 * `credential-unreadable`.
 *
 * @param folderLost true if the place where the vault's secret was stored is lost, so that the secret cannot be erased
 * @param keyLost true if the master key that wrapped the vault's key is lost, and not just missing in `keys`
 * @throws {VaultClosed | VaultUsable} nothing was changed
 * @throws {UnknownMasterKey} unless `keyLost`; nothing was changed
 * @throws {VaultSecretElsewhere} unless `folderLost`; nothing was changed
 */
export async function renewVault(
  db: Database,
  keys: VaultKeyWrapper,
  migrationId: string,
  { folderLost = false, keyLost = false } = {},
): Promise<Renewal> {
  const renewal = await db.transaction().execute(async (tx) => {
    const vault = await lockVault(tx, migrationId);
    if (!vault?.publicKey) throw new VaultClosed(migrationId);
    const isUsable = await readVault(tx, keys, migrationId).then(
      () => true,
      (error: unknown) => {
        const isUnreadable = UNREADABLE.some((errorClass) => error instanceof errorClass);
        if (isUnreadable || (folderLost && error instanceof VaultSecretElsewhere)) return false;
        if (keyLost && error instanceof UnknownMasterKey) return false;
        throw error;
      },
    );
    if (isUsable) throw new VaultUsable(migrationId);
    // Without the master key, `readVault` failed before it looked for the secret. This call throws VaultSecretElsewhere
    // if `keys` stores secrets in another folder, because workers would not look for the new secret there.
    if (keyLost && !folderLost)
      await keys.erase(migrationId, vault.secretId, vault.secretId ?? undefined).catch((error: unknown) => {
        const isElsewhere = error instanceof VaultSecretElsewhere;
        throw isElsewhere ? new VaultSecretElsewhere(migrationId, error.folder, 'key-lost') : error;
      });
    await createKey(tx, keys, { migrationId, platformKey: vault.platformKey });
    const staged = await tx
      .deleteFrom('staged_credentials')
      .where('migration_id', '=', migrationId)
      .returning('supersedes')
      .execute();
    const secrets = await tx
      .deleteFrom('sealed_applications')
      .where('migration_id', '=', migrationId)
      .executeTakeFirst();
    const { numDeletedRows } = await tx
      .deleteFrom('credentials as v')
      .using('companies as c')
      .whereRef('c.migration_id', '=', 'v.migration_id')
      .whereRef('c.row', '=', 'v.row')
      .where('v.migration_id', '=', migrationId)
      .where('c.state', '=', 'waiting')
      .where('v.supersedes', '=', false)
      .where('v.crossed_at', 'is', null)
      // A retried company is waiting, although the answer to its authorization was lost.
      .where(sql<boolean>`not ${WAS_SENT}`)
      .executeTakeFirst();
    const kept = await tx
      .selectFrom('credentials as v')
      .innerJoin('companies as c', (join) =>
        join.onRef('c.migration_id', '=', 'v.migration_id').onRef('c.row', '=', 'v.row'),
      )
      .select(['c.state', sql<boolean>`v.crossed_at is not null or ${WAS_SENT}`.as('mayBeAtService')])
      .where('v.migration_id', '=', migrationId)
      .execute();
    return {
      deleted: Number(numDeletedRows) + staged.length,
      deletedReplacements: staged.filter(({ supersedes }) => supersedes).length,
      kept: kept.length,
      // A company whose credential was sent can be linked already. It then moves without the credential.
      keptWaiting: kept.filter(({ state, mayBeAtService }) => state === 'waiting' && !mayBeAtService).length,
      deletedSecrets: Number(secrets.numDeletedRows),
    };
  });
  await eraseSuperseded(db, keys, migrationId);
  return renewal;
}
