/**
 * An identity provider for tests: OpenID Connect with the authorization code flow and PKCE. It signs everyone in as the
 * account that the test has set, and can be made to give wrong answers, unlike a real provider.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type GenerateKeyPairResult, type JWTPayload } from 'jose';

export const CLIENT_ID = 'tokenferry-portal';
export const CLIENT_SECRET = 'a-secret-of-the-portal';
const ALGORITHM = 'RS256';
const KEY_ID = 'key-1';

export interface Account {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
}

export const CLEO: Account = { sub: 'account-of-cleo', email: 'cleo@acme.example', email_verified: true };

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly account: Account;
}

export class TestIdentityProvider {
  account = CLEO;
  /** Replaces claims of the next ID tokens; undefined removes a claim. */
  claims: Record<string, unknown> = {};
  /** Replaces parameters of the redirect to the portal. */
  answer: Record<string, string> = {};
  /** Signs with a key that is not published. */
  signsWithOtherKey = false;
  /** Answers every request with status 500. */
  isDown = false;
  /** The ID token that was issued last. */
  idToken = '';
  url = '';
  /** Requests to the token endpoint. */
  readonly exchanges: URLSearchParams[] = [];
  private readonly grants = new Map<string, Grant>();
  private readonly server: Server = createServer((request, response) => void this.handle(request, response));
  private keys: GenerateKeyPairResult | undefined;
  private otherKeys: GenerateKeyPairResult | undefined;

  /** @param secret null for a public client */
  constructor(private readonly secret: string | null = CLIENT_SECRET) {}

  async start(): Promise<this> {
    [this.keys, this.otherKeys] = await Promise.all([generateKeyPair(ALGORITHM), generateKeyPair(ALGORITHM)]);
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    // The host differs from the portal's, so that browsers treat the provider as another site.
    this.url = `http://localhost:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Makes the provider give correct answers again, with the account of Cleo. */
  reset(): void {
    Object.assign(this, { account: CLEO, claims: {}, answer: {}, signsWithOtherKey: false, isDown: false });
  }

  /** Follows `address` as a browser does. Returns the query of the redirect to the portal. */
  async signIn(address: string): Promise<string> {
    const answer = await fetch(address, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '').search;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (this.isDown) return send(response, 500, { error: 'server_error' });
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return send(response, 200, {
          ...{ issuer: this.url, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token` },
          ...{ jwks_uri: `${this.url}/keys`, id_token_signing_alg_values_supported: [ALGORITHM] },
          ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
        });
      case '/keys':
        if (!this.keys) throw new Error('not started');
        return send(response, 200, {
          keys: [{ ...(await exportJWK(this.keys.publicKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' }],
        });
      case '/authorize':
        return this.authorize(url.searchParams, response);
      case '/token':
        return this.exchange(new URLSearchParams(await read(request)), response);
      default:
        response.writeHead(404).end();
    }
  }

  private authorize(asked: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString('base64url');
    const of = (name: string): string => asked.get(name) ?? '';
    if (of('client_id') !== CLIENT_ID || of('code_challenge_method') !== 'S256' || of('response_type') !== 'code')
      return send(response, 400, { error: 'invalid_request' });
    this.grants.set(code, {
      ...{ nonce: of('nonce'), challenge: of('code_challenge'), redirectUri: of('redirect_uri') },
      account: this.account,
    });
    const back = new URL(of('redirect_uri'));
    back.search = new URLSearchParams({ code, state: of('state'), ...this.answer }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  private async exchange(asked: URLSearchParams, response: ServerResponse): Promise<void> {
    this.exchanges.push(asked);
    const code = asked.get('code') ?? '';
    const grant = this.grants.get(code);
    this.grants.delete(code);
    const challenge = createHash('sha256')
      .update(asked.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked.get('client_secret') !== this.secret) return send(response, 401, { error: 'invalid_client' });
    if (!grant || grant.challenge !== challenge || grant.redirectUri !== asked.get('redirect_uri'))
      return send(response, 400, { error: 'invalid_grant' });
    this.idToken = await this.issue({ ...grant.account, nonce: grant.nonce });
    send(response, 200, { access_token: 'unused', token_type: 'Bearer', id_token: this.idToken });
  }

  /** Issues an ID token for the portal. */
  async issue(payload: JWTPayload): Promise<string> {
    if (!this.keys || !this.otherKeys) throw new Error('not started');
    const now = Math.floor(Date.now() / 1000);
    const issued = { iss: this.url, aud: CLIENT_ID, iat: now, exp: now + 300, ...payload, ...this.claims };
    const { privateKey } = this.signsWithOtherKey ? this.otherKeys : this.keys;
    const defined = Object.fromEntries(Object.entries(issued).filter(([, value]) => value !== undefined));
    return new SignJWT(defined).setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID }).sign(privateKey);
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
