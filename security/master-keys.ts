/**
 * Master keys wrap (encrypt) the private key of each vault. Postgres stores the private keys only in wrapped form.
 *
 * Only workers and `ferry vault rotate` have the master keys, and they never store them in the database. A copy of the
 * database is therefore not sufficient to decrypt a credential.
 */
import { decrypt, encrypt } from './aead';
import { type KeyRing, parseKeyRing } from './key-ring';
import { Secret } from './secret';

interface WrappedKey {
  /** Id of the master key that wrapped the key. Not secret. */
  readonly keyId: string;
  readonly wrapped: Buffer;
}

/**
 * Wraps and unwraps data keys, which are the private keys of vaults. An interface, so that a cloud key service can be
 * used instead of local master keys.
 */
export interface KeyProvider {
  /** Id of the master key that {@link wrap} uses. */
  readonly newestKeyId: string;
  wrap(privateKey: Secret<Buffer>): Promise<WrappedKey>;
  /**
   * @throws {UnknownMasterKey} when the provider does not have the master key
   * @throws {WrappedKeyBroken} when the master key does not unwrap the key
   */
  unwrap(keyId: string, wrapped: Buffer): Promise<Secret<Buffer>>;
}

/** Thrown when this process does not have the master key that wrapped a key. */
export class UnknownMasterKey extends Error {
  override readonly name = 'UnknownMasterKey';

  constructor(keyId: string, known: readonly string[]) {
    super(
      `The vault's private key was encrypted under master key ${keyId}, but this process only has ${known.join(', ')}. ` +
        'Start it with that master key as well. Without it, the credentials must be supplied again.',
    );
  }
}

/** Thrown when a wrapped key was altered in the database, or is stored with the id of another master key. */
export class WrappedKeyBroken extends Error {
  override readonly name = 'WrappedKeyBroken';

  constructor(keyId: string, options?: ErrorOptions) {
    super(
      `Master key ${keyId} cannot unwrap the key that is stored with it: the stored key was altered or replaced in ` +
        'the database. Restore it from a backup, or have the credentials supplied again.',
      options,
    );
  }
}

/**
 * Parses a list of master keys, newest first.
 *
 * @throws {KeyInvalid}
 */
export function parseMasterKeys(text: Secret): KeyRing {
  return parseKeyRing(text, 'master key');
}

/** Creates a provider that wraps with the newest master key and unwraps with the master key that wrapped the key. */
export function createMasterKeyProvider({ newest, byId }: KeyRing): KeyProvider {
  return {
    newestKeyId: newest.id,

    async wrap(privateKey) {
      return { keyId: newest.id, wrapped: encrypt(newest.key, privateKey.reveal(), newest.id) };
    },

    async unwrap(keyId, wrapped) {
      const masterKey = byId.get(keyId);
      if (masterKey === undefined) throw new UnknownMasterKey(keyId, [...byId.keys()]);
      try {
        return new Secret(decrypt(masterKey.key, wrapped, keyId));
      } catch (error) {
        throw new WrappedKeyBroken(keyId, { cause: error });
      }
    },
  };
}
