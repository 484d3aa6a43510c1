/**
 * The values that a browser keeps while a person signs in at the identity provider. They are in a cookie and not in the
 * portal, because several portals can serve the same address. The person can change the cookie, but gains nothing: the
 * identity provider checks the verifier, and the ID token must contain the nonce of exactly this session and key.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Browsers accept a cookie with this prefix only with `Secure` and `Path=/`, and send it only to this host. */
const COOKIE = '__Host-tokenferry-sign-in';
const LIFETIME_S = 600;

const PendingSignInSchema = z.strictObject({
  migrationId: z.string().min(1).max(200),
  publicKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** The token of the session that is requested. */
  token: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  state: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  /** The secret of PKCE. */
  verifier: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});
export type PendingSignIn = z.infer<typeof PendingSignInSchema>;

/** Returns the sign-in that this browser has begun; undefined unless there is exactly one cookie, and it is valid. */
export function pendingSignInOf({ headers: { cookie = '' } }: Pick<FastifyRequest, 'headers'>) {
  const values = cookie
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${COOKIE}=`))
    .map((each) => each.slice(COOKIE.length + 1));
  const [value = ''] = values;
  if (values.length !== 1) return undefined;
  try {
    return PendingSignInSchema.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

export function pendingSignInCookie(pending: PendingSignIn): string {
  const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
  return `${COOKIE}=${value}; Path=/; Max-Age=${LIFETIME_S}; Secure; HttpOnly; SameSite=Strict`;
}

export function noPendingSignInCookie(): string {
  return `${COOKIE}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;
}
