/**
 * Sealing: encrypts credentials in two layers, so that a copy of the database is not sufficient to decrypt them.
 *
 * 1. Each migration's vault has a key pair. A credential is sealed with the public key, and only the private key opens
 *    it. `ferry credentials` uses only the public key, so it cannot open a credential again. Each box (sealed
 *    credential) is bound to a migration and a row, so a copy in another row cannot be opened.
 * 2. The private key is wrapped (encrypted) twice, first with the vault's own secret (vault-secrets.ts) and then with a
 *    master key. Postgres stores only the result. Only workers and `ferry vault` have the secrets and the master keys,
 *    and they never store them in the database. Erasing the secret makes every copy of the wrapped key useless.
 *
 * Sealing is HPKE (RFC 9180) in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, one message per
 * encapsulation. A box consists of one version byte, the encapsulated key (65 bytes) and the ciphertext with its tag.
 * Base mode does not authenticate the sender, so anyone who has the public key can seal. Both layers of wrapping are
 * AES-256-GCM (aead.ts); the inner one is bound to the migration, the outer one to the id of the master key.
 */
import { createECDH, type webcrypto } from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256 } from '@hpke/core';
import { decrypt, encrypt } from './aead';
import { NodeHkdfSha256, toArrayBuffer } from './hkdf';
import { type KeyRing, parseKeyRing } from './key-ring';
import { Secret } from './secret';
import type { VaultSecrets } from './vault-secrets';

declare global {
  // The types of `@hpke/core` use the browser's globals. Node's Web Crypto has the same types under other names.
  type CryptoKey = webcrypto.CryptoKey;
  type CryptoKeyPair = webcrypto.CryptoKeyPair;
}

const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new NodeHkdfSha256(), aead: new Aes256Gcm() });
const VERSION = 1;
const ENCAPSULATED_BYTES = 65;
const HEADER_BYTES = 1 + ENCAPSULATED_BYTES;
/** Domain separation: a box that was sealed for another purpose cannot be opened here. */
const INFO = Buffer.from('tokenferry vault 1');

/** The key pair of one migration's vault. */
export interface VaultKey {
  /** Uncompressed P-256 point, 65 bytes. Not secret. */
  readonly publicKey: Buffer;
  /** 32 bytes. Wrapped with a master key before it is stored. */
  readonly privateKey: Secret<Buffer>;
}

/** Thrown when a box cannot be opened, because it was altered, sealed with another key, or copied from another row. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';

  constructor(options?: ErrorOptions) {
    super(
      'The sealed credential cannot be opened: it was altered, sealed with another key, or copied from another row.',
      options,
    );
  }
}

/**
 * Thrown when the stored public key is not valid or does not belong to the private key. An attacker who replaces the
 * public key in the database can read every credential that is sealed after that.
 */
export class VaultKeyMismatch extends Error {
  override readonly name = 'VaultKeyMismatch';

  constructor(options?: ErrorOptions) {
    super(
      "The vault's public key was altered or replaced in the database. Pause the migration and restore the key from " +
        'a backup. Treat credentials supplied since the change as leaked: have them revoked and supplied again.',
      options,
    );
  }
}

export async function createVaultKey(): Promise<VaultKey> {
  const { publicKey, privateKey } = await suite.kem.generateKeyPair();
  return {
    publicKey: Buffer.from(await suite.kem.serializePublicKey(publicKey)),
    privateKey: new Secret(Buffer.from(await suite.kem.serializePrivateKey(privateKey))),
  };
}

/**
 * Seals `plaintext` with the vault's public key.
 *
 * @param boundTo additional authenticated data: not secret, not part of the box, and required again to open it
 * @throws {VaultKeyMismatch} when the public key is not a P-256 point; only {@link createOpener} detects a public key
 * that is valid but was replaced
 */
export async function seal(publicKey: Uint8Array, plaintext: Uint8Array, boundTo: Uint8Array): Promise<Buffer> {
  const recipientPublicKey = await readPublicKey(publicKey);
  const { enc, ct } = await suite.seal(
    { recipientPublicKey, info: INFO },
    toArrayBuffer(plaintext),
    toArrayBuffer(boundTo),
  );
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(enc), Buffer.from(ct)]);
}

/**
 * Opens a sealed box.
 *
 * @throws {SealBroken}
 */
export type Opener = (sealed: Uint8Array, boundTo: Uint8Array) => Promise<Buffer>;

/**
 * Creates a function that opens the boxes that were sealed with this key pair. Imports the keys once, because importing
 * them takes longer than opening a box.
 *
 * @throws {VaultKeyMismatch} when the public key does not belong to the private key
 */
export async function createOpener({ publicKey, privateKey }: VaultKey): Promise<Opener> {
  const ownKey = createECDH('prime256v1');
  ownKey.setPrivateKey(privateKey.reveal());
  if (!ownKey.getPublicKey().equals(publicKey)) throw new VaultKeyMismatch();
  const recipientKey = {
    publicKey: await readPublicKey(publicKey),
    privateKey: await suite.kem.deserializePrivateKey(toArrayBuffer(privateKey.reveal())),
  };
  return async (sealed, boundTo) => {
    if (sealed[0] !== VERSION) throw new SealBroken();
    const enc = toArrayBuffer(sealed.subarray(1, HEADER_BYTES));
    try {
      return Buffer.from(
        await suite.open(
          { recipientKey, enc, info: INFO },
          toArrayBuffer(sealed.subarray(HEADER_BYTES)),
          toArrayBuffer(boundTo),
        ),
      );
    } catch (error) {
      throw new SealBroken({ cause: error });
    }
  };
}

async function readPublicKey(publicKey: Uint8Array) {
  try {
    return await suite.kem.deserializePublicKey(toArrayBuffer(publicKey));
  } catch (error) {
    throw new VaultKeyMismatch({ cause: error });
  }
}

/** A wrapped private key, as Postgres stores it. */
export interface WrappedKey {
  /** Id of the master key that wrapped the key. Not secret. */
  readonly keyId: string;
  /** Id of the vault secret that wrapped the key. Not secret. */
  readonly secretId: string;
  readonly wrapped: Buffer;
}

/**
 * Wraps and unwraps the private keys of vaults. An interface, so that a cloud key service can be used instead of local
 * master keys and a folder of secrets. It must be able to {@link erase}.
 */
export interface KeyProvider {
  /** Id of the master key that {@link wrap} uses. */
  readonly newestKeyId: string;
  /** Wraps the key with a new vault secret. Earlier results stay valid until they are erased. */
  wrap(migrationId: string, privateKey: Secret<Buffer>): Promise<WrappedKey>;
  /**
   * @throws {UnknownMasterKey} when the provider does not have the master key
   * @throws {VaultSecretMissing} when the vault's secret was erased or lost
   * @throws {VaultSecretElsewhere} when the provider uses another place for secrets than the one that wrapped the key
   * @throws {WrappedKeyBroken} when the wrapped key was altered, or was wrapped for another migration
   */
  unwrap(migrationId: string, key: WrappedKey): Promise<Secret<Buffer>>;
  /**
   * Makes everything that {@link wrap} has returned for this migration useless, except the key with the secret `keepId`,
   * even to a person who has all master keys. Idempotent.
   *
   * @param secretId the secret of the key in use; null if there is none
   * @throws {VaultSecretElsewhere} when nothing was erased, because the secret was stored in another place
   */
  erase(migrationId: string, secretId: string | null, keepId?: string): Promise<void>;
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

/**
 * Creates a provider that wraps with the vault's secret and the newest master key, and unwraps with the master key that
 * wrapped the key.
 */
export function createMasterKeyProvider({ newest, byId }: KeyRing, secrets: VaultSecrets): KeyProvider {
  return {
    newestKeyId: newest.id,

    async wrap(migrationId, privateKey) {
      const { id, secret } = await secrets.create(migrationId);
      const inner = encrypt(secret, privateKey.reveal(), migrationId);
      return { keyId: newest.id, secretId: id, wrapped: encrypt(newest.key, inner, newest.id) };
    },

    async unwrap(migrationId, { keyId, secretId, wrapped }) {
      const masterKey = byId.get(keyId);
      if (masterKey === undefined) throw new UnknownMasterKey(keyId, [...byId.keys()]);
      const secret = await secrets.read(migrationId, secretId);
      try {
        return new Secret(decrypt(secret, decrypt(masterKey.key, wrapped, keyId), migrationId));
      } catch (error) {
        throw new WrappedKeyBroken(keyId, { cause: error });
      }
    },

    erase: (migrationId, secretId, keepId) => secrets.erase(migrationId, secretId, keepId),
  };
}
