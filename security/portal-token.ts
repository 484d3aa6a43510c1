/** The portal's tokens, for invitations and for sessions. The database contains only their hashes. */
import { createHash, randomBytes } from 'node:crypto';

/** Returns a new token: 32 random bytes, 43 characters of base64url. */
export function createPortalToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of the token's text. No salt and no stretching, because a token cannot be guessed. */
export function hashPortalToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
