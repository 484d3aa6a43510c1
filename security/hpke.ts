/**
 * HPKE (RFC 9180) in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, computed with Node's cryptography.
 *
 * An encapsulation is the public key of a new key pair, which the sender generates. From its own private key and the
 * other side's public key, each side derives the same context: a key and a base nonce. A context encrypts up to 2^32
 * messages, each with the nonce of its own sequence number, so each message can be decrypted without the others. Base
 * mode does not authenticate the sender, so anyone who has the public key can encrypt.
 *
 * The labels, and the functions that take a label, have the RFC's names.
 * docs/decisions/0024-sealing-with-nodes-cryptography.md explains why no library is used.
 */
import { createCipheriv, createDecipheriv, createECDH, createHmac } from 'node:crypto';

/** Length of an encapsulated key and of a public key: an uncompressed point of P-256. */
export const POINT_BYTES = 65;
const CURVE = 'prime256v1';
const UNCOMPRESSED = 4;
const PRIVATE_KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HASH_BYTES = 32;

const BASE_MODE = Buffer.of(0);
/** The ids of the KEM, the KDF and the AEAD (RFC 9180, 7.1 to 7.3). */
const [KEM_ID, KDF_ID, AEAD_ID] = [Buffer.of(0, 0x10), Buffer.of(0, 1), Buffer.of(0, 2)];
const KEM_SUITE = Buffer.concat([Buffer.from('KEM'), KEM_ID]);
const HPKE_SUITE = Buffer.concat([Buffer.from('HPKE'), KEM_ID, KDF_ID, AEAD_ID]);
const NOTHING = Buffer.alloc(0);

interface KeyPair {
  /** An uncompressed point, 65 bytes. */
  readonly publicKey: Buffer;
  /** 32 bytes. */
  readonly privateKey: Buffer;
}

/** Encrypts messages with one encapsulation. */
interface Sender {
  readonly encapsulated: Buffer;
  /**
   * @param boundTo additional authenticated data: required again to decrypt
   * @returns the ciphertext with its tag, and its sequence number: 0 for the first message
   */
  encrypt(plaintext: Uint8Array, boundTo: Uint8Array): { readonly sequence: number; readonly ciphertext: Buffer };
}

/** Decrypts the messages of one encapsulation, in any order. */
interface Recipient {
  /** @throws when the ciphertext or its tag was altered, or belongs to another sequence number or another `boundTo` */
  decrypt(sequence: number, ciphertext: Uint8Array, boundTo: Uint8Array): Buffer;
}

interface Context {
  readonly key: Buffer;
  readonly baseNonce: Buffer;
}

export function createKeyPair(): KeyPair {
  const ecdh = createECDH(CURVE);
  const publicKey = ecdh.generateKeys();
  const privateKey = Buffer.alloc(PRIVATE_KEY_BYTES);
  const number = ecdh.getPrivateKey(); // Omits leading zeros.
  number.copy(privateKey, PRIVATE_KEY_BYTES - number.length);
  return { publicKey, privateKey };
}

/** Returns the public key of a private key. */
export function publicKeyOf(privateKey: Buffer): Buffer {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  return ecdh.getPublicKey();
}

/**
 * Creates a sender with a new encapsulation.
 *
 * @param info context information (RFC 9180, 5.1); the recipient must use the same bytes
 * @throws when `publicKey` is not an uncompressed point on the curve
 */
export function createSender(publicKey: Uint8Array, info: Uint8Array): Sender {
  assertUncompressed(publicKey);
  const ephemeral = createECDH(CURVE);
  const encapsulated = ephemeral.generateKeys();
  const context = deriveContext(ephemeral.computeSecret(publicKey), encapsulated, publicKey, info);
  let next = 0;
  return {
    encapsulated,
    encrypt(plaintext, boundTo) {
      // Uses each sequence number once, because two messages with the same number would have the same nonce.
      const sequence = next;
      next += 1;
      const cipher = createCipheriv(CIPHER, context.key, nonceOf(context, sequence), { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo);
      const encrypted = [cipher.update(plaintext), cipher.final()];
      return { sequence, ciphertext: Buffer.concat([...encrypted, cipher.getAuthTag()]) };
    },
  };
}

/**
 * Reads a private key once, for any number of encapsulations.
 *
 * @returns a function that creates the recipient of an encapsulation, and throws when the encapsulation is not an
 * uncompressed point on the curve
 */
export function createRecipients(privateKey: Buffer, info: Uint8Array): (encapsulated: Uint8Array) => Recipient {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  const publicKey = ecdh.getPublicKey();
  return (encapsulated) => {
    assertUncompressed(encapsulated);
    const context = deriveContext(ecdh.computeSecret(encapsulated), encapsulated, publicKey, info);
    return {
      decrypt(sequence, ciphertext, boundTo) {
        const tagAt = ciphertext.length - TAG_BYTES;
        if (tagAt < 0) throw new RangeError('the ciphertext is shorter than its tag');
        const nonce = nonceOf(context, sequence);
        const decipher = createDecipheriv(CIPHER, context.key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(boundTo).setAuthTag(ciphertext.subarray(tagAt));
        return Buffer.concat([decipher.update(ciphertext.subarray(0, tagAt)), decipher.final()]);
      },
    };
  };
}

/**
 * Derives the context from the result of the key agreement: `ExtractAndExpand` and `KeySchedule` (RFC 9180, 4.1 and
 * 5.1).
 *
 * @param dh the x coordinate of the shared point, 32 bytes
 */
function deriveContext(dh: Buffer, encapsulated: Uint8Array, publicKey: Uint8Array, info: Uint8Array): Context {
  const kemContext = Buffer.concat([encapsulated, publicKey]);
  const eaePrk = labeledExtract(KEM_SUITE, NOTHING, 'eae_prk', dh);
  const sharedSecret = labeledExpand(KEM_SUITE, eaePrk, 'shared_secret', kemContext, HASH_BYTES);
  const pskIdHash = labeledExtract(HPKE_SUITE, NOTHING, 'psk_id_hash', NOTHING);
  const infoHash = labeledExtract(HPKE_SUITE, NOTHING, 'info_hash', info);
  const scheduleContext = Buffer.concat([BASE_MODE, pskIdHash, infoHash]);
  const secret = labeledExtract(HPKE_SUITE, sharedSecret, 'secret', NOTHING);
  return {
    key: labeledExpand(HPKE_SUITE, secret, 'key', scheduleContext, KEY_BYTES),
    baseNonce: labeledExpand(HPKE_SUITE, secret, 'base_nonce', scheduleContext, NONCE_BYTES),
  };
}

/** Returns the base nonce XOR the sequence number (RFC 9180, 5.2). */
function nonceOf({ baseNonce }: Context, sequence: number): Buffer {
  if (sequence >= 2 ** 32) throw new RangeError('the encapsulation has reached its maximum number of messages');
  const nonce = Buffer.from(baseNonce);
  const at = NONCE_BYTES - 4;
  nonce.writeUInt32BE((nonce.readUInt32BE(at) ^ sequence) >>> 0, at);
  return nonce;
}

/**
 * Computes `LabeledExtract` (RFC 9180, 4). HMAC pads an empty salt with zeros, which gives the salt of zeros that HKDF
 * requires.
 */
function labeledExtract(suite: Buffer, salt: Buffer, label: string, ikm: Uint8Array): Buffer {
  return hmac(salt, Buffer.from('HPKE-v1'), suite, Buffer.from(label), ikm);
}

/**
 * Computes `LabeledExpand` (RFC 9180, 4). Returns at most one block of HKDF, 32 bytes, because no value that this suite
 * derives is longer.
 */
function labeledExpand(suite: Buffer, prk: Buffer, label: string, info: Uint8Array, length: number): Buffer {
  const lengthAndVersion = Buffer.concat([Buffer.of(0, length), Buffer.from('HPKE-v1')]);
  return hmac(prk, lengthAndVersion, suite, Buffer.from(label), info, Buffer.of(1)).subarray(0, length);
}

function hmac(key: Buffer, ...parts: readonly Uint8Array[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * Refuses the other encodings of a point, because Node would accept them. Node itself checks that the point is on the
 * curve.
 */
function assertUncompressed(point: Uint8Array): void {
  if (point.length !== POINT_BYTES || point[0] !== UNCOMPRESSED) throw new RangeError('not an uncompressed point');
}
