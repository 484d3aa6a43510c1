/**
 * The values that a browser keeps while a person signs in at the identity provider. They are in a cookie and not in the
 * portal, because several portals can serve the same address. The person can change the cookie, but gains nothing: the
 * identity provider checks the verifier, and the ID token must contain the nonce of exactly this session and key.
 */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { portalToken, StartIdentitySignInSchema } from '../contract/session';
import { cookieIn, cookieOf, expiredCookie } from './cookies';

const COOKIE = '__Host-tokenferry-sign-in';
const LIFETIME_S = 600;

const PendingSignInSchema = StartIdentitySignInSchema.extend({
  /** The token of the session that is requested. */
  token: portalToken,
  state: portalToken,
  /** The secret of PKCE. */
  verifier: portalToken,
});
export type PendingSignIn = z.infer<typeof PendingSignInSchema>;

/** Returns the sign-in that this browser has begun; undefined unless there is exactly one cookie, and it is valid. */
export function pendingSignInOf({ headers }: Pick<FastifyRequest, 'headers'>) {
  const value = cookieIn(headers, COOKIE);
  if (value === undefined) return undefined;
  try {
    return PendingSignInSchema.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

export function pendingSignInCookie(pending: PendingSignIn): string {
  return cookieOf(COOKIE, Buffer.from(JSON.stringify(pending)).toString('base64url'), LIFETIME_S);
}

export const noPendingSignInCookie = (): string => expiredCookie(COOKIE);
