/**
 * The keys of a vault. Postgres stores the vault's public key with the provider's signature, the wrapped private key,
 * and the id of the vault secret that wrapped the private key. The secret itself is stored outside Postgres
 * (security/vault-secrets.ts).
 */
import { sql } from 'kysely';
import {
  assertSignedBy,
  createVaultKey,
  fingerprintOf,
  MigrationKeyInvalid,
  SignedByAnother,
  VaultSecretMissing,
  type VaultKeyWrapper,
  type MigrationKey,
  type VaultKey,
  type WrappedKey,
} from '../../security';
import { updateMigration, type Database, type Queryable } from '../database/database';

/** Thrown when a migration has no vault, because its workflow has not opened it yet or the vault was destroyed. */
export class VaultClosed extends Error {
  override readonly name = 'VaultClosed';
  constructor(readonly migrationId: string) {
    super(`migration ${migrationId} has no vault yet, or its vault was destroyed`);
  }
}

/** Thrown when the public key of a vault has no signature of the provider. `ferry vault rotate` signs it. */
export class VaultKeyNotSigned extends MigrationKeyInvalid {}

/** Thrown when the signature of a vault's public key does not match, because someone has changed the database. */
export class VaultKeyAltered extends MigrationKeyInvalid {
  constructor(
    readonly migrationId: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Creates the migration's key pair, unless it already has one or its vault was destroyed. Needs the master key to wrap
 * the private key.
 */
export async function openVault(db: Database, keys: VaultKeyWrapper, migrationId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const existing = await lockVault(tx, migrationId);
    if (!existing || existing.publicKey || existing.destroyedAt) return;
    await createKey(tx, keys, { migrationId, platformKey: existing.platformKey });
  });
}

/**
 * Locks the vault until the transaction ends, so that two processes never create or erase its secrets concurrently.
 *
 * @returns undefined if there is no such migration
 */
export async function lockVault(tx: Queryable, migrationId: string) {
  const vault = await selectVault(tx, migrationId).forUpdate().executeTakeFirst();
  return vault && { ...vault, key: wrappedKey(vault) };
}

/** A migration whose vault gets a key. */
type VaultOwner = Pick<MigrationKey, 'migrationId' | 'platformKey'>;

/** Creates a key pair and stores it with the provider's signature, in a vault that the transaction has locked. */
export async function createKey(tx: Queryable, keys: VaultKeyWrapper, owner: VaultOwner): Promise<void> {
  const { publicKey, privateKey } = createVaultKey();
  await storeKey(tx, owner.migrationId, await keys.wrap(owner.migrationId, privateKey), publicKey);
  await signKey(tx, keys, { ...owner, publicKey });
}

/** Signs the public key with the provider key and stores the signature, in a vault that the transaction has locked. */
export async function signKey(
  tx: Queryable,
  keys: VaultKeyWrapper,
  key: VaultOwner & { readonly publicKey: Uint8Array },
): Promise<void> {
  const { signedBy, signature } = await keys.signMigrationKey(key);
  await updateMigration(tx, key.migrationId, { vault_signed_by: signedBy, vault_signature: signature });
}

/**
 * Reads the migration key, with which clients seal their credentials.
 *
 * @param provider fingerprint of the provider that must have signed the key; undefined if that is not checked
 * @throws {VaultClosed | VaultKeyNotSigned | VaultKeyAltered}
 */
export async function readMigrationKey(db: Queryable, migrationId: string, provider?: string): Promise<MigrationKey> {
  const { publicKey, platformKey, signedBy, signature } = await readSealingKey(db, migrationId, provider);
  if (signedBy === null || signature === null) throw notSigned(migrationId);
  return { migrationId, platformKey, publicKey, signedBy, signature };
}

/**
 * Returns the fingerprint of the public key of a vault. Returns null if the vault has not been opened or was destroyed,
 * or if `provider` is given and has not signed the key.
 */
export async function readKeyFingerprint(
  db: Queryable,
  migrationId: string,
  provider?: string,
): Promise<string | null> {
  try {
    return fingerprintOf((await readSealingKey(db, migrationId, provider)).publicKey);
  } catch (error) {
    if (error instanceof VaultClosed || error instanceof MigrationKeyInvalid) return null;
    throw error;
  }
}

function notSigned(migrationId: string): VaultKeyNotSigned {
  return new VaultKeyNotSigned(
    `the key of ${migrationId} has not been signed, because an earlier version of Tokenferry created the key`,
  );
}

/**
 * Reads the public key of a vault with its signature, and whether only credentials that were obtained after the
 * confirmation count (`rotating`).
 *
 * @param provider fingerprint of the provider that must have signed the key; undefined if it is not checked
 * @throws {VaultClosed | VaultKeyNotSigned | VaultKeyAltered}
 */
export async function readSealingKey(db: Queryable, migrationId: string, provider?: string) {
  const stored = await selectVault(db, migrationId).executeTakeFirst();
  if (!stored?.publicKey) throw new VaultClosed(migrationId);
  const { publicKey, platformKey, rotating, signedBy, signature } = stored;
  if (provider !== undefined) {
    if (signedBy === null || signature === null) throw notSigned(migrationId);
    try {
      assertSignedBy({ migrationId, platformKey, publicKey, signedBy, signature }, provider);
    } catch (error) {
      if (error instanceof SignedByAnother) throw new VaultKeyNotSigned(error.message, { cause: error });
      if (error instanceof MigrationKeyInvalid) throw new VaultKeyAltered(migrationId, error.message, { cause: error });
      throw error;
    }
  }
  return { publicKey, platformKey, rotating, signedBy, signature };
}

/** Stores a wrapped key in a vault that the transaction has locked, and the public key if one is given. */
export async function storeKey(
  tx: Queryable,
  migrationId: string,
  { keyId, secretId, wrapped }: WrappedKey,
  publicKey?: Buffer,
): Promise<void> {
  await updateMigration(tx, migrationId, {
    vault_key_id: keyId,
    vault_secret_id: secretId,
    vault_wrapped_key: wrapped,
    ...(publicKey && { vault_public_key: publicKey }),
  });
}

/**
 * Unwraps the migration's private key.
 *
 * @param failedSecretId id of the secret that was missing in the previous try
 * @throws {VaultClosed} and the errors of {@link VaultKeyWrapper.unwrap}
 */
export async function unwrapKey(
  db: Queryable,
  keys: VaultKeyWrapper,
  migrationId: string,
  failedSecretId?: string,
): Promise<VaultKey> {
  const stored = await selectVault(db, migrationId).executeTakeFirst();
  if (!stored?.publicKey || !stored.wrapped) throw new VaultClosed(migrationId);
  const key = wrappedKey(stored);
  if (key === null)
    throw new VaultSecretMissing(migrationId, {
      why: 'an earlier version of Tokenferry created the vault without a vault secret',
    });
  try {
    return { publicKey: stored.publicKey, privateKey: await keys.unwrap(migrationId, key) };
  } catch (error) {
    // A rotation might have replaced the secret since the row was read.
    if (!(error instanceof VaultSecretMissing) || key.secretId === failedSecretId) throw error;
    return unwrapKey(db, keys, migrationId, key.secretId);
  }
}

/** Returns the wrapped key; null if there is no key, or if an earlier version wrapped it without a secret. */
function wrappedKey({ keyId, secretId, wrapped }: { [Part in keyof WrappedKey]: WrappedKey[Part] | null }) {
  return keyId === null || secretId === null || wrapped === null ? null : { keyId, secretId, wrapped };
}

/**
 * Erases the vault's secret, and then deletes the migration's remaining credentials and its keys. From then on, the
 * copies that Postgres keeps in its files, log and backups cannot be opened, even with the master key. Records the time
 * of the destruction after the secret has been erased. Idempotent.
 *
 * @throws {VaultSecretElsewhere} nothing was destroyed
 */
export async function destroyVault(db: Database, keys: VaultKeyWrapper, migrationId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const vault = await lockVault(tx, migrationId);
    if (!vault) return;
    await keys.erase(migrationId, vault.secretId);
    for (const table of ['credentials', 'staged_credentials', 'sealed_applications'] as const)
      await tx.deleteFrom(table).where('migration_id', '=', migrationId).execute();
    await updateMigration(tx, migrationId, {
      vault_public_key: null,
      vault_key_id: null,
      vault_secret_id: null,
      vault_wrapped_key: null,
      vault_signed_by: null,
      vault_signature: null,
      vault_destroyed_at: sql<Date>`coalesce(vault_destroyed_at, clock_timestamp())`,
    });
  });
}

function selectVault(db: Queryable, migrationId: string) {
  return db
    .selectFrom('migrations')
    .select([
      'rotating',
      'platform_key as platformKey',
      'vault_public_key as publicKey',
      'vault_signed_by as signedBy',
      'vault_signature as signature',
      'vault_key_id as keyId',
      'vault_secret_id as secretId',
      'vault_wrapped_key as wrapped',
      'vault_destroyed_at as destroyedAt',
    ])
    .where('id', '=', migrationId);
}
