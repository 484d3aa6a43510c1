/**
 * Signs people in at an identity provider with OpenID Connect: authorization code flow with PKCE, state and nonce. The
 * library checks the identity provider's answer and the ID token. A worker checks the ID token again, because the
 * portal must not be able to sign in a person who has not signed in at the identity provider.
 */
import { identityIn, IdentityRefused, type Identity, type Secret } from '../../security';
import { isLoopback } from '../../security/codec-server';

export interface OpenIdOptions {
  /** Identifier and address of the identity provider. */
  readonly issuer: string;
  /** The portal's id at the identity provider. */
  readonly clientId: string;
  /** Absent: the portal is a public client. */
  readonly clientSecret?: Secret | undefined;
}

/** The values that tie the answer of the identity provider to one sign-in. */
export interface SignInChecks {
  readonly state: string;
  /** The secret of PKCE. The code cannot be used without it. */
  readonly verifier: string;
  readonly nonce: string;
}

export interface ProvenIdentity extends Identity {
  readonly idToken: string;
}

/** Thrown when the identity provider cannot be reached, or fails. */
export class IdentityProviderFailed extends Error {
  override readonly name = 'IdentityProviderFailed';
}

/**
 * Loads the library when it is needed, because it is an ECMAScript module, and few portals have an identity provider.
 */
const loadLibrary = () => import('openid-client');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

interface Discovered {
  readonly openid: Library;
  readonly configuration: Awaited<ReturnType<Library['discovery']>>;
}

/** The path of the page to which the identity provider redirects the browser. */
export const RETURN_PATH = '/sign-in';

const SCOPE = 'openid email';
const TIMEOUT_S = 5;
const DISCOVER_EVERY_MS = 3_600_000;

export class IdentityProvider {
  private discovered: Promise<Discovered> | undefined;
  private discoveredAt = 0;

  constructor(
    private readonly options: OpenIdOptions,
    /** Returns the address of the portal in browsers, without a slash at the end. */
    private readonly portalUrl: () => string,
  ) {}

  /**
   * Returns the address at which the person signs in.
   *
   * @throws {IdentityProviderFailed}
   */
  async signInAddress({ state, verifier, nonce }: SignInChecks): Promise<string> {
    const { openid, configuration } = await this.discover();
    return openid.buildAuthorizationUrl(configuration, {
      ...{ redirect_uri: this.returnAddress(), scope: SCOPE, state, nonce },
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).href;
  }

  /**
   * Exchanges the code for an ID token, and returns the token and the account that it identifies.
   *
   * @param query the query string with which the identity provider redirected the browser to the portal
   * @throws {IdentityRefused} if the identity provider refused the sign-in, the answer or the ID token is not valid, or
   *   the email address is not verified
   * @throws {IdentityProviderFailed}
   */
  async identityOf(query: string, { state, verifier, nonce }: SignInChecks): Promise<ProvenIdentity> {
    const { issuer, clientId } = this.options;
    const { openid, configuration } = await this.discover();
    const address = new URL(this.returnAddress());
    address.search = query;
    const tokens = await openid
      .authorizationCodeGrant(configuration, address, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      })
      .catch((error: unknown) => asProviderError(openid, error));
    const { id_token: idToken } = tokens;
    if (idToken === undefined) throw new IdentityRefused('the identity provider sent no ID token');
    return { ...identityIn(tokens.claims(), { issuer, clientId, nonce }), idToken };
  }

  private returnAddress(): string {
    return this.portalUrl() + RETURN_PATH;
  }

  /** Returns the identity provider's configuration, which is read again after an hour or a failure. */
  private discover(): Promise<Discovered> {
    if (this.discovered !== undefined && Date.now() < this.discoveredAt + DISCOVER_EVERY_MS) return this.discovered;
    const discovered = discover(this.options).catch((cause: unknown) => {
      if (this.discovered === discovered) this.discovered = undefined;
      throw new IdentityProviderFailed(`the configuration of ${this.options.issuer} cannot be read`, { cause });
    });
    this.discoveredAt = Date.now();
    this.discovered = discovered;
    return discovered;
  }
}

async function discover({ issuer, clientId, clientSecret }: OpenIdOptions): Promise<Discovered> {
  const openid = await loadLibrary();
  const address = new URL(issuer);
  const isLocal = address.protocol === 'http:' && isLoopback(address.hostname);
  const authentication = clientSecret === undefined ? openid.None() : openid.ClientSecretPost(clientSecret.reveal());
  const configuration = await openid.discovery(address, clientId, undefined, authentication, {
    timeout: TIMEOUT_S,
    // Also checks the signature of the ID token.
    execute: [openid.enableNonRepudiationChecks, ...(isLocal ? [openid.allowInsecureRequests] : [])],
  });
  return { openid, configuration };
}

/** An answer with one of these codes reports that the identity provider failed; any other code refuses this sign-in. */
const PROVIDER_FAILURES = new Set(['server_error', 'temporarily_unavailable']);

/** The library's codes for a missing answer, and for an answer that does not conform to OpenID Connect. */
const NO_ANSWER = /TIMEOUT|ABORT|FORBIDDEN|NOT_CONFORM|NOT_JSON|PARSE_ERROR/;

function asProviderError(openid: Library, error: unknown): never {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError) {
    if (PROVIDER_FAILURES.has(error.error)) throw new IdentityProviderFailed(error.error, { cause: error });
    throw new IdentityRefused(`the identity provider refused the sign-in: ${error.error}`, { cause: error });
  }
  if (error instanceof openid.ClientError && error.code !== undefined && !NO_ANSWER.test(error.code))
    throw new IdentityRefused(error.code, { cause: error });
  throw new IdentityProviderFailed(error instanceof Error ? error.message : 'unknown', { cause: error });
}
