/** The token of a session in a request: in a cookie, or in the header `Authorization`. */
import type { FastifyRequest } from 'fastify';
import { hashPortalToken } from '../../security';
import { portalToken } from '../contract/session';
import { cookieIn, cookieOf, expiredCookie } from './cookies';

const COOKIE = '__Host-tokenferry';

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
  const { authorization } = headers;
  if (authorization !== undefined) {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return sentToken(token, 'header');
  }
  return sentToken(cookieIn(headers, COOKIE), 'cookie');
}

function sentToken(token: string | undefined, sentAs: SentToken['sentAs']): SentToken | undefined {
  const { data } = portalToken.safeParse(token);
  return data === undefined ? undefined : { hash: hashPortalToken(data), sentAs };
}

export function sessionCookie(token: string, lifetimeMs: number): string {
  return cookieOf(COOKIE, token, Math.floor(lifetimeMs / 1000));
}

export const expiredSessionCookie = (): string => expiredCookie(COOKIE);
