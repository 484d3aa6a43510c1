/** Signs requests to sign in again. The page and `ferry --portal` share this code. */
import { SIGN_IN_TAKEN_WITHIN_MS } from '../../domain/migration/sign-in';

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
