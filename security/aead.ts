/**
 * Authenticated encryption with AES-256-GCM under one symmetric key.
 *
 * Output: a random nonce (12 bytes), the authentication tag (16 bytes), then the ciphertext (as long as the plaintext).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from './secret';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts `plaintext` with a random nonce.
 *
 * @param boundTo additional authenticated data: not secret, not part of the output, and required again to decrypt
 */
export function encrypt(key: Secret<Buffer>, plaintext: Uint8Array, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.reveal(), nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/**
 * Decrypts the output of {@link encrypt}.
 *
 * @throws when the data was altered or truncated, was encrypted under another key, or was bound to another `boundTo`
 */
export function decrypt(key: Secret<Buffer>, encrypted: Uint8Array, boundTo: string): Buffer {
  const nonce = encrypted.subarray(0, NONCE_BYTES);
  const tag = encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key.reveal(), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
