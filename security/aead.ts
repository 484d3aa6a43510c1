import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from './secret';

/**
 * Authenticated encryption under one key, AES-256-GCM. What comes out is a nonce (12 random bytes), the tag (16) and the
 * ciphertext, which is as long as the plaintext.
 */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param boundTo it opens only together with the same; it is not in what comes out, and not secret */
export function encrypt(key: Secret<Buffer>, plaintext: Uint8Array, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.reveal(), nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** @throws when it was altered, cut, encrypted under another key or bound to something else */
export function decrypt(key: Secret<Buffer>, encrypted: Uint8Array, boundTo: string): Buffer {
  const nonce = encrypted.subarray(0, NONCE_BYTES);
  const tag = encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key.reveal(), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
