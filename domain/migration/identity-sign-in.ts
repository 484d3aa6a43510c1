/**
 * Signing in to the portal with OpenID Connect: an ID token of the identity provider proves which account a person has.
 *
 * The ID token's nonce is derived from the migration, the browser's key and the hash of the new session's token. The ID
 * token therefore signs in to this migration only, for one session, and registers no other key.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { canonicalJson } from './signatures';

/** How long an ID token can be used to sign in after it was issued. In milliseconds. */
export const IDENTITY_VALID_MS = 10 * 60_000;

export interface IdentitySignIn {
  readonly migrationId: string;
  /** The key of the person's browser. Ed25519, 64 hexadecimal digits. */
  readonly publicKey: string;
  /** SHA-256 of the text of the new session's token, 64 hexadecimal digits. */
  readonly sessionHash: string;
}

/** Returns the nonce that the ID token must contain. */
export function identityNonce({ migrationId, publicKey, sessionHash }: IdentitySignIn): string {
  const text = canonicalJson({ migrationId, publicKey, sessionHash });
  return bytesToHex(sha256(utf8ToBytes(`tokenferry identity 1\n${text}`)));
}
