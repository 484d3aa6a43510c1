/**
 * Signing in to the portal again: an Ed25519 signature proves that a person has the key that was registered with their
 * invitation. The portal cannot create a session without this signature, because workers verify it and create the
 * session.
 *
 * The signed text names the purpose, the migration, the key, the hash of the new session's token, and the time. The
 * signature is therefore valid for this migration and one session only, and only for a few minutes.
 */
import { utf8ToBytes } from '@noble/hashes/utils';
import { canonicalJson, verifies } from './signatures';

/** How far the time of signing may differ from the time of the check, because clocks differ. In milliseconds. */
export const SIGN_IN_VALID_MS = 5 * 60_000;

/**
 * Workers take a request to sign in for this long after the portal has stored it, in milliseconds. The view
 * `open_portal_sign_ins` has the same limit.
 */
export const SIGN_IN_TAKEN_WITHIN_MS = 2 * 60_000;

export interface SignIn {
  readonly migrationId: string;
  /** Ed25519, 64 hexadecimal digits. */
  readonly publicKey: string;
  /** SHA-256 of the text of the new session's token, 64 hexadecimal digits. */
  readonly sessionHash: string;
  /** ISO 8601, UTC. */
  readonly signedAt: string;
}

/** Returns the bytes that are signed. */
export function signInText({ migrationId, publicKey, sessionHash, signedAt }: SignIn): Uint8Array {
  return utf8ToBytes(`tokenferry sign-in 1\n${canonicalJson({ migrationId, publicKey, sessionHash, signedAt })}`);
}

/**
 * Checks that the owner of the key has signed this sign-in, and recently.
 *
 * @param signature 128 hexadecimal digits
 * @returns what is wrong; null if the signature is valid and recent
 */
export function signInProblem(signIn: SignIn, signature: string, now: Date): 'signature' | 'time' | null {
  if (!verifies({ publicKey: signIn.publicKey, value: signature }, signInText(signIn))) return 'signature';
  const difference = Math.abs(now.getTime() - Date.parse(signIn.signedAt));
  // For an invalid time, the difference is NaN, and the comparison is false.
  return difference <= SIGN_IN_VALID_MS ? null : 'time';
}

/**
 * Returns a function that returns a signed request to sign in, for every attempt to send it. The function returns the
 * same request as long as workers take it, so that the attempts create only one session. Then it signs a new one.
 *
 * @param sign signs a new request
 */
export function repeatedSignIn<Signed>(sign: () => Promise<Signed>): () => Promise<Signed> {
  let current: { readonly signed: Promise<Signed>; readonly until: number } | undefined;
  return () => {
    const now = Date.now();
    if (current === undefined || now >= current.until)
      current = { signed: sign(), until: now + SIGN_IN_TAKEN_WITHIN_MS };
    return current.signed;
  };
}
