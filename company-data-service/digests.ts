import { createHash } from 'node:crypto';

/** Returns the SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns a GUID that depends only on the text. */
export function guidOf(text: string): string {
  const hex = sha256(text).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
