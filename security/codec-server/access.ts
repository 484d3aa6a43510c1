/** Who may have payloads decoded: whoever carries a token that says so. */
import { readFile } from 'node:fs/promises';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { isLoopback } from './loopback';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** The issuer's public keys (a JWK set): a file, or an `https:` address (`http:` on this machine alone). */
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

/** Thrown when the issuer's public keys cannot be had: of no token can be said whether it is good. */
export class KeySetUnavailable extends Error {
  override readonly name = 'KeySetUnavailable';
}

/** Only signatures: a token that anybody who has the public key could have made is none. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** The issuer's clock and this one's. */
const CLOCK_TOLERANCE_S = 30;

/** @throws {KeySetUnavailable} when the key set is no file that can be read, or an address that anybody could answer for */
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
  if (URL.canParse(keySet) && /^https?:/.test(keySet)) return remoteKeySet(new URL(keySet));
  try {
    return createLocalJWKSet(JSON.parse(await readFile(keySet, 'utf8')) as JSONWebKeySet);
  } catch (error) {
    throw new KeySetUnavailable(`the key set ${keySet} cannot be read: it has to be a JWK set`, { cause: error });
  }
}

function remoteKeySet(address: URL): JWTVerifyGetKey {
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    throw new KeySetUnavailable(`the key set ${address.href} has to begin with https:`);
  }
  const keys = createRemoteJWKSet(address);
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const isOfToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
      if (isOfToken.some((each) => error instanceof each)) throw error;
      throw new KeySetUnavailable('the keys of the issuer cannot be had', { cause: error });
    }
  };
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
