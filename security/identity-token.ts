/**
 * Verifies ID tokens of OpenID Connect. With an ID token, a person proves to a worker which account at the identity
 * provider is theirs.
 */
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { IDENTITY_VALID_MS } from '../domain/migration/identity-sign-in';
import { ALGORITHMS, CLOCK_TOLERANCE_S, isLoopback } from './codec-server/access';

export interface IdentityRules {
  /** The identity provider: required value of the claim `iss`, and base address of its configuration. */
  readonly issuer: string;
  /** The portal's id at the identity provider: required value of the claim `aud`. */
  readonly clientId: string;
}

/** A person's account at an identity provider. */
export interface Identity {
  readonly issuer: string;
  /** The account's id. The identity provider never gives it to another account. */
  readonly subject: string;
  /** Verified by the identity provider. */
  readonly email: string;
}

/**
 * Thrown when an ID token does not prove the person's identity. The message contains the reason, and never the token.
 */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused';
}

/**
 * Thrown when the identity provider cannot be reached or its configuration is not valid, so that no ID token can be
 * verified now.
 */
export class IdentityProviderUnavailable extends Error {
  override readonly name = 'IdentityProviderUnavailable';
}

/** Verifies an ID token. Rejects with {@link IdentityRefused} or {@link IdentityProviderUnavailable}. */
export type VerifyIdentity = (idToken: string, nonce: string) => Promise<Identity>;

/** The claims that identify the person, in an ID token whose signature was verified. */
const IdentityClaims = z.object({
  sub: z.string().min(1).max(255),
  email: z.string().min(3).max(320),
  email_verified: z.boolean(),
  nonce: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  azp: z.string().optional(),
});

const TIMEOUT_MS = 5_000;
const DISCOVER_EVERY_MS = 3_600_000;

/**
 * Creates the function that verifies ID tokens. The function reads the identity provider's configuration at its first
 * call, and again when the configuration is older than an hour.
 */
export function createIdentityVerifier({ issuer, clientId }: IdentityRules): VerifyIdentity {
  let keys: JWTVerifyGetKey | undefined;
  let discoveredAt = 0;
  return async (idToken, nonce) => {
    if (keys === undefined || Date.now() > discoveredAt + DISCOVER_EVERY_MS) {
      keys = await discoverKeys(issuer);
      discoveredAt = Date.now();
    }
    const { payload } = await jwtVerify(idToken, keys, {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      maxTokenAge: IDENTITY_VALID_MS / 1000,
      requiredClaims: ['exp', 'iat', 'sub', 'nonce'],
    }).catch(asIdentityError);
    return identityIn(payload, { issuer, clientId, nonce });
  };
}

/**
 * Returns the account that the claims of an ID token identify.
 *
 * @throws {IdentityRefused}
 */
export function identityIn(
  payload: unknown,
  { issuer, clientId, nonce }: IdentityRules & { readonly nonce: string },
): Identity {
  const { data: claims } = IdentityClaims.safeParse(payload);
  if (claims === undefined)
    throw new IdentityRefused(
      'a required claim of the ID token is missing or invalid (sub, email, email_verified, nonce or aud)',
    );
  if (claims.nonce !== nonce) throw new IdentityRefused('the ID token belongs to another sign-in');
  const isForOthersToo = Array.isArray(claims.aud) && claims.aud.length > 1;
  if ((claims.azp !== undefined || isForOthersToo) && claims.azp !== clientId)
    throw new IdentityRefused('the ID token was issued to another application');
  if (!claims.email_verified) throw new IdentityRefused('the email address is not verified');
  return { issuer, subject: claims.sub, email: claims.email };
}

function asIdentityError(error: unknown): never {
  const { JWKSTimeout, JWKSInvalid, JOSEError } = errors;
  if (error instanceof JOSEError && !(error instanceof JWKSTimeout) && !(error instanceof JWKSInvalid)) {
    // jose throws `ERR_JOSE_GENERIC` when the response with the keys does not have status 200, or is not JSON.
    if (error.code !== 'ERR_JOSE_GENERIC') throw new IdentityRefused(error.message, { cause: error });
  }
  throw new IdentityProviderUnavailable("the identity provider's public keys cannot be fetched", { cause: error });
}

const ProviderConfiguration = z.object({ issuer: z.string(), jwks_uri: z.url() });

async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  assertEncrypted(address, `the address of the identity provider (${address})`);
  const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then(async (response): Promise<unknown> => {
      if (!response.ok) throw new Error(`the identity provider answered with status ${response.status}`);
      return response.json();
    })
    .catch((cause: unknown) => {
      throw new IdentityProviderUnavailable(`the configuration of the identity provider ${issuer} cannot be read`, {
        cause,
      });
    });
  const { data } = ProviderConfiguration.safeParse(answer);
  if (data?.issuer !== issuer)
    throw new IdentityProviderUnavailable(
      `the configuration of the identity provider ${issuer} is invalid or names another issuer`,
    );
  const keysAt = `the address that the identity provider names for its keys (${data.jwks_uri})`;
  assertEncrypted(data.jwks_uri, keysAt);
  return createRemoteJWKSet(new URL(data.jwks_uri), { timeoutDuration: TIMEOUT_MS });
}

/**
 * Refuses an unencrypted address of another machine, because keys that arrive unencrypted could have been replaced on
 * the way.
 *
 * @param what the address as a part of a sentence
 */
function assertEncrypted(address: string, what: string): void {
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new IdentityProviderUnavailable(`${what} is not encrypted; it must begin with https:`);
}
