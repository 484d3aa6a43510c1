/** Who may have payloads decoded: whoever carries a token that says so. */
import { readFile } from 'node:fs/promises';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** The issuer's public keys (a JWK set): an `https:` or `http:` address, or a file. */
  readonly keySet: string;
}

/** Somebody who may read. */
export interface Reader {
  /** As the token calls them. */
  readonly subject: string;
  /** Temporal namespaces whose payloads they may read. */
  readonly namespaces: readonly string[];
}

/** Reads a bearer token. Rejects with {@link TokenRefused} when it is not good. */
export type ReadToken = (token: string) => Promise<Reader>;

/** Thrown for a token that is not good; the message says why, and never repeats it. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** Only signatures: a token that anybody who has the public key could have made is none. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** The issuer's clock and this one's. */
const CLOCK_TOLERANCE_S = 30;

/** @throws when the key set is a file that cannot be read */
export async function tokenReader({ issuer, audience, keySet }: TokenRules): Promise<ReadToken> {
  const keys = await openKeySet(keySet);
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp', 'sub'],
      });
      const { sub: subject = '', namespaces } = payload;
      if (!isListOfText(namespaces)) throw new TokenRefused('the token has no claim "namespaces" with a list of names');
      return { subject, namespaces };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new TokenRefused(error.message, { cause: error });
      throw error;
    }
  };
}

async function openKeySet(keySet: string): Promise<JWTVerifyGetKey> {
  if (/^https?:/.test(keySet)) return createRemoteJWKSet(new URL(keySet));
  return createLocalJWKSet(JSON.parse(await readFile(keySet, 'utf8')) as JSONWebKeySet);
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
