/** Requests to sign in without an invitation's link. They wait in the database until a worker has checked the proof. */
import { setTimeout as delay } from 'node:timers/promises';
import { approverFingerprint } from '../../domain/migration/approvers';
import { SIGN_IN_TAKEN_WITHIN_MS } from '../../domain/migration/sign-in';
import type { PortalContext } from './context';
import type { SessionRow, SignInRequest } from './database';
import { forbidden, storedTooMany, tooMany, unavailable, waitText } from './errors';

const POLL_MS = 200;
const TOO_MANY = 'There are too many attempts to sign in.';

/**
 * Stores a request to sign in, and waits until a worker has created the session. A repeated request does not create a
 * second session.
 *
 * @param isCancelled returns true once the sender no longer waits for the answer
 * @throws {PortalError} 403 if the request is refused, 429 if there are too many, 503 if no worker has answered in time
 */
export async function signInAndWait(
  { db, answerWaitMs }: Pick<PortalContext, 'db' | 'answerWaitMs'>,
  request: SignInRequest,
  isCancelled: () => boolean,
): Promise<SessionRow> {
  const { sessionHash } = request;
  const waitUntil = performance.now() + answerWaitMs;
  const requested = await db.requestSignIn(request);
  const refusal = request.identity === undefined ? unusableKey : unknownAccount;
  if (requested.result === 'refused') throw refusal();
  if (requested.result === 'busy') {
    const { busyForS } = requested;
    if (busyForS !== null) throw tooMany(`${TOO_MANY} Your key can be used again in ${waitText(busyForS)}.`, busyForS);
    // By then, a worker has answered the requests that are open now, or no worker takes them any more.
    throw storedTooMany(TOO_MANY, SIGN_IN_TAKEN_WITHIN_MS / 1_000);
  }
  for (;;) {
    const outcome = await db.signInOutcome(sessionHash);
    if (outcome === 'unconfirmed') throw unconfirmedKey(request.publicKey);
    const session = outcome === 'signed-in' ? await db.session(sessionHash) : undefined;
    if (session) return session;
    if (outcome !== null) throw refusal();
    if (isCancelled() || performance.now() + POLL_MS > waitUntil) throw noAnswer();
    await delay(POLL_MS);
  }
}

/** Returns the same error for an unknown key, a wrong signature, another migration, and a revoked invitation. */
export const unusableKey = () =>
  forbidden('This key cannot be used to sign in.', 'Ask your contact for a new invitation.');

/**
 * Returns the same error for a sign-in that the identity provider refused, an unknown account, another migration, and
 * an invitation that was revoked or has expired.
 */
export const unknownAccount = () =>
  forbidden(
    'This account cannot be used to sign in.',
    'Sign in with the email address for which your contact created the invitation. If you already did, or if you do not know this address, ask your contact for a new invitation.',
  );

/** Names the fingerprint, because a person without a session cannot see it elsewhere. */
const unconfirmedKey = (publicKey: string) =>
  forbidden(
    'Support has not confirmed your key yet.',
    `Call your contact, read out the fingerprint of your key (${approverFingerprint({ publicKey })}), and sign in again.`,
  );

const noAnswer = () => unavailable('Signing in is taking longer than usual.', 'Try again.', 2);
