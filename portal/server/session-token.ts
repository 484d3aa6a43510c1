/** The token of a session in a request: in a cookie, or in the header `Authorization`. */
import type { FastifyRequest } from 'fastify';
import { hashPortalToken } from '../../security';

/** Browsers accept a cookie with this prefix only with `Secure` and `Path=/`, and send it only to this host. */
const COOKIE = '__Host-tokenferry';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface SentToken {
  readonly hash: Buffer;
  /** `header`: sent by a program. `cookie`: sent by a browser, possibly for a page of another site. */
  readonly sentAs: 'header' | 'cookie';
}

/**
 * Returns the hash of a request's token, and how the token was sent. A request with the header `Authorization` must
 * carry the token there; any other request must have exactly one session cookie.
 *
 * @returns undefined if there is no such token, or if it does not have the right form
 */
export function tokenIn({ headers }: Pick<FastifyRequest, 'headers'>): SentToken | undefined {
  const { authorization, cookie = '' } = headers;
  if (authorization !== undefined) {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && TOKEN.test(token) ? { hash: hashPortalToken(token), sentAs: 'header' } : undefined;
  }
  const tokens = cookie
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${COOKIE}=`))
    .map((each) => each.slice(COOKIE.length + 1));
  const [token = ''] = tokens;
  return tokens.length === 1 && TOKEN.test(token) ? { hash: hashPortalToken(token), sentAs: 'cookie' } : undefined;
}

export function sessionCookie(token: string, lifetimeMs: number): string {
  return `${COOKIE}=${token}; Path=/; Max-Age=${Math.floor(lifetimeMs / 1000)}; Secure; HttpOnly; SameSite=Strict`;
}

export function expiredCookie(): string {
  return `${COOKIE}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;
}
