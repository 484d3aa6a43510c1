/**
 * Access to the codec server: callers need a JWT that the configured issuer has issued and that lists the namespace.
 */
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';

export interface TokenRules {
  /** Required value of the claim `iss`. */
  readonly issuer: string;
  /** Required value of the claim `aud`. */
  readonly audience: string;
  /** A file or an `https:` URL with the issuer's public keys as a JWK set. An `http:` URL must be on this machine. */
  readonly keySet: string;
}

/** The bearer of a valid token. */
export interface TokenBearer {
  /** Claim `sub` of the token. */
  readonly subject: string;
  /** Claim `namespaces` of the token: the Temporal namespaces whose payloads the bearer may decrypt. */
  readonly namespaces: readonly string[];
}

/** Verifies a bearer token. Rejects with {@link TokenRefused} or {@link KeySetUnavailable}. */
export type VerifyToken = (token: string) => Promise<TokenBearer>;

/** Thrown when a token is not valid. The message contains the reason, and never the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/**
 * Thrown when the issuer's public keys cannot be read, or their URL is not allowed, so that no token can be verified.
 */
export class KeySetUnavailable extends Error {
  override readonly name = 'KeySetUnavailable';
}

/**
 * Accepted signature algorithms. They exclude `none`, with which anyone could forge a token, and HMAC, because an
 * attacker could use the issuer's public key as the HMAC key.
 */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** Accepted difference between the issuer's clock and this machine's clock, in seconds. */
export const CLOCK_TOLERANCE_S = 30;

/**
 * Creates the function that verifies tokens.
 *
 * @throws {KeySetUnavailable} when the key set file cannot be read, or when an `http:` URL leads to another machine. An
 * attacker on the network could replace the keys that such a URL returns.
 */
export async function createTokenVerifier({ issuer, audience, keySet }: TokenRules): Promise<VerifyToken> {
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
    throw new KeySetUnavailable(`the key set ${keySet} cannot be read; it must be a JSON file with a JWK set`, {
      cause: error,
    });
  }
}

function remoteKeySet(address: URL): JWTVerifyGetKey {
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    throw new KeySetUnavailable(`the URL of the key set ${address.href} must begin with https:`);
  }
  const keys = createRemoteJWKSet(address);
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const causedByToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
      if (causedByToken.some((each) => error instanceof each)) throw error;
      throw new KeySetUnavailable("the issuer's public keys cannot be fetched", { cause: error });
    }
  };
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/**
 * Returns whether a host name or address is this machine's loopback. Does not use DNS, because its answers can change.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
