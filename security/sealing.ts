import { createECDH } from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256 } from '@hpke/core';
import { toArrayBuffer } from './array-buffer';
import { NodeHkdfSha256 } from './hkdf';
import { Secret } from './secret';

/**
 * Sealing: whoever has the public key can close the box, only who has the private key can open it.
 *
 * HPKE (RFC 9180), base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, one message for each encapsulation.
 * A sealed box is one byte for the version of this form, the encapsulated key (65 bytes) and the ciphertext with its
 * tag.
 */
const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new NodeHkdfSha256(), aead: new Aes256Gcm() });
const VERSION = 1;
const ENCAPSULATED_BYTES = 65;
const HEADER_BYTES = 1 + ENCAPSULATED_BYTES;
/** Keeps boxes apart from whatever else may one day be sealed with such keys. */
const INFO = Buffer.from('tokenferry vault 1');

/** The pair of keys of one migration's vault. */
export interface VaultKey {
  /** Uncompressed point, 65 bytes. */
  readonly publicKey: Buffer;
  /** 32 bytes, to be kept wrapped. */
  readonly privateKey: Secret<Buffer>;
}

/** Thrown when a sealed box does not open: altered, sealed for another key, or moved to another place. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';

  constructor(options?: ErrorOptions) {
    super('The sealed data does not open: it was altered, sealed for another key, or belongs to another row.', options);
  }
}

/** Thrown when a vault's public key is not the one that was made with its private key. */
export class VaultKeyExchanged extends Error {
  override readonly name = 'VaultKeyExchanged';

  constructor(options?: ErrorOptions) {
    super(
      "The vault's public key was altered or exchanged in the database. Pause, and restore it from a backup; take " +
        'credentials that were supplied since it was exchanged for known: have them revoked and supplied again.',
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
 * @param boundTo says where the box belongs: it opens only together with the same. It is not in the box, and not
 * secret.
 * @throws {VaultKeyExchanged} when the public key is none; another one is noticed by whoever has the private key
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

/** @throws {SealBroken} */
export type Opener = (sealed: Uint8Array, boundTo: Uint8Array) => Promise<Buffer>;

/**
 * What opens every box that was sealed with this public key. The keys are read once: read anew for each box they would
 * take longer than opening it.
 *
 * @throws {VaultKeyExchanged}
 */
export async function openerFor({ publicKey, privateKey }: VaultKey): Promise<Opener> {
  const ownKey = createECDH('prime256v1');
  ownKey.setPrivateKey(privateKey.reveal());
  if (!ownKey.getPublicKey().equals(publicKey)) throw new VaultKeyExchanged();
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
    throw new VaultKeyExchanged({ cause: error });
  }
}
