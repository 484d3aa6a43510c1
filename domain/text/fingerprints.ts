import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';

/**
 * Returns the fingerprint of a public key: the first 128 bits of its SHA-256, as eight groups of four hexadecimal
 * digits. Another key with the same fingerprint cannot be found in practice.
 */
export function fingerprintOf(publicKey: Uint8Array): string {
  const digits = bytesToHex(sha256(publicKey)).slice(0, 32);
  return (digits.match(/.{4}/g) ?? []).join('-');
}
