/**
 * Wraps (encrypts) the private keys of vaults, with which the boxes of sealing.ts are opened: first with the vault's
 * own secret (vault-secrets.ts) and then with a master key. Postgres stores only the result. Only workers, `ferry up`,
 * `ferry vault` and `ferry doctor` use the secrets or the master keys, which are never stored in the database.
 * Erasing the secret makes every copy of the wrapped key useless.
 *
 * Both layers of wrapping are AES-256-GCM (aead.ts). The inner layer is bound to the migration, and the outer layer to
 * the id of the master key.
 */
import { decrypt, encrypt } from './aead';
import type { KeyRing } from './key-ring';
import { deriveProviderKey, type MigrationKey, type MigrationKeyFacts, signedTextOf } from './migration-key';
import { Secret } from './secret';
import { renewal, type VaultSecrets } from './vault-secrets';

/** A wrapped private key, as Postgres stores it. */
export interface WrappedKey {
  /** Id of the master key that wrapped the key. Not secret. */
  readonly keyId: string;
  /** Id of the vault secret that wrapped the key. Not secret. */
  readonly secretId: string;
  readonly wrapped: Buffer;
}

/**
 * Wraps and unwraps the private keys of vaults. This is an interface, so that a cloud key service can replace the local
 * master keys and the folder of secrets. Such a service must support `erase`.
 */
export interface VaultKeyWrapper {
  /** Id of the master key that {@link wrap} uses. */
  readonly newestKeyId: string;
  /** The public key of the provider key that {@link signMigrationKey} uses. 64 hexadecimal digits. */
  readonly providerPublicKey: string;
  /** Signs a migration key, so that a client can verify it. */
  signMigrationKey(facts: MigrationKeyFacts): Promise<MigrationKey>;
  /** Wraps the key with a new vault secret. Earlier results stay valid until they are erased. */
  wrap(migrationId: string, privateKey: Secret<Buffer>): Promise<WrappedKey>;
  /**
   * Unwraps a private key.
   *
   * @throws {UnknownMasterKey} when this wrapper does not have the master key that wrapped the private key
   * @throws {VaultSecretMissing} when the vault's secret was erased or lost
   * @throws {VaultSecretElsewhere} when the wrapper that wrapped the key stored its secrets in another place
   * @throws {WrappedKeyBroken} when the wrapped key was altered, or was wrapped for another migration
   */
  unwrap(migrationId: string, key: WrappedKey): Promise<Secret<Buffer>>;
  /**
   * Makes all wrapped keys that {@link wrap} has returned for this migration useless, even to a person who has all
   * master keys. Spares the key that was wrapped with the secret `keepId`. Idempotent.
   *
   * @param secretId id of the secret of the key in use; null if there is none
   * @throws {VaultSecretElsewhere} when nothing was erased, because the secret was stored in another place
   */
  erase(migrationId: string, secretId: string | null, keepId?: string): Promise<void>;
}

/** Thrown when this process does not have the master key that wrapped a key. */
export class UnknownMasterKey extends Error {
  override readonly name = 'UnknownMasterKey';

  constructor(migrationId: string, keyId: string, known: readonly string[]) {
    super(
      `The vault of ${migrationId} was encrypted under master key ${keyId}, ` +
        `but this process only has ${known.join(', ')}. Add master key ${keyId} to TOKENFERRY_MASTER_KEY, or to the ` +
        "process's key file, at the same place as in the list of the other workers. The newest key comes first. " +
        'Then start the process again. ' +
        `Only if master key ${keyId} is lost, ${renewal(migrationId, ' --key-lost')}`,
    );
  }
}

/**
 * Thrown when a wrapped key was altered in the database, was wrapped for another migration, or is stored with the id of
 * another master key, or when the vault's secret was altered.
 */
export class WrappedKeyBroken extends Error {
  override readonly name = 'WrappedKeyBroken';

  constructor(migrationId: string, keyId: string, options?: ErrorOptions) {
    super(
      `Master key ${keyId} cannot open the vault of ${migrationId}, because the private key in the database or the ` +
        "vault's secret was altered or replaced. Restore the private key from a backup. If that is impossible, or " +
        `does not help, ${renewal(migrationId)}`,
      options,
    );
  }
}

/**
 * Creates a wrapper that wraps with the vault's secret and the newest master key, and unwraps with the master key that
 * wrapped the key.
 */
export function createVaultKeyWrapper({ newest, byId }: KeyRing, secrets: VaultSecrets): VaultKeyWrapper {
  const provider = deriveProviderKey(newest.key);
  return {
    newestKeyId: newest.id,
    providerPublicKey: provider.publicKey,

    async signMigrationKey(facts) {
      return { ...facts, signedBy: provider.publicKey, signature: provider.sign(signedTextOf(facts)) };
    },

    async wrap(migrationId, privateKey) {
      const { id, secret } = await secrets.create(migrationId);
      const inner = encrypt(secret, privateKey.reveal(), migrationId);
      return { keyId: newest.id, secretId: id, wrapped: encrypt(newest.key, inner, newest.id) };
    },

    async unwrap(migrationId, { keyId, secretId, wrapped }) {
      const masterKey = byId.get(keyId);
      if (masterKey === undefined) throw new UnknownMasterKey(migrationId, keyId, [...byId.keys()]);
      const secret = await secrets.read(migrationId, secretId);
      try {
        return new Secret(decrypt(secret, decrypt(masterKey.key, wrapped, keyId), migrationId));
      } catch (error) {
        throw new WrappedKeyBroken(migrationId, keyId, { cause: error });
      }
    },

    erase: (migrationId, secretId, keepId) => secrets.erase(migrationId, secretId, keepId),
  };
}
