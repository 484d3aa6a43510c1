/** A portal with an identity provider, and the steps of a browser that signs in there. */
import { createIdentityVerifier, Secret, type VerifyIdentity } from '../../security';
import { createIdentityInvitation } from '../../store';
import type { PortalOptions } from '../../portal/server';
import { CLEO, CLIENT_ID, CLIENT_SECRET, TestIdentityProvider } from './identity-provider';
import { createMigration, json, openPortal, type RunningPortal } from './running-portal';
import { newKey, withWorker } from './signing-in';

export interface IdentityPortal extends RunningPortal {
  readonly provider: TestIdentityProvider;
  readonly verifyIdentity: VerifyIdentity;
}

export async function openIdentityPortal(
  options: Partial<PortalOptions> = {},
  secret: string | null = CLIENT_SECRET,
): Promise<IdentityPortal> {
  const provider = await new TestIdentityProvider(secret).start();
  const openId = {
    ...{ issuer: provider.url, clientId: CLIENT_ID },
    clientSecret: secret === null ? undefined : new Secret(secret),
  };
  const portal = await openPortal({ answerWaitMs: 5_000, openId, ...options });
  return {
    ...portal,
    ...{ provider, verifyIdentity: createIdentityVerifier(openId) },
    close: async () => {
      await portal.close();
      await provider.close();
    },
  };
}

type Changes = Partial<Omit<Parameters<typeof createIdentityInvitation>[1], 'migrationId'>>;

/** Invites Cleo to a new migration. */
export async function inviteAccount({ db, provider }: Omit<IdentityPortal, 'close'>, changes: Changes = {}) {
  const migrationId = await createMigration(db);
  const id = await createIdentityInvitation(db, {
    ...{ migrationId, person: 'Cleo', role: 'client', email: CLEO.email, createdBy: 'Sam' },
    ...{ issuer: provider.url, subject: null, expiresAt: new Date(Date.now() + 3_600_000) },
    ...changes,
  });
  return { id, migrationId };
}

const post = (portal: Pick<IdentityPortal, 'url'>, path: string, body: object, headers: Record<string, string>) => {
  const request = json(body);
  return fetch(portal.url + path, { ...request, headers: { ...request.headers, origin: portal.url, ...headers } });
};

export interface Begun {
  readonly address: string;
  /** The cookie that the browser keeps until it returns from the identity provider. */
  readonly cookie: string;
}

export const begin = async (
  portal: Pick<IdentityPortal, 'url'>,
  migrationId: string,
  publicKey = newKey().publicKey,
  headers: Record<string, string> = {},
): Promise<Response> => post(portal, '/api/session/identity', { migrationId, publicKey }, headers);

export async function begun(
  portal: Pick<IdentityPortal, 'url'>,
  migrationId: string,
  publicKey?: string,
): Promise<Begun> {
  const answer = await begin(portal, migrationId, publicKey);
  if (answer.status !== 200) throw new Error(`signing in cannot be begun: ${answer.status} ${await answer.text()}`);
  const { address } = (await answer.json()) as { readonly address: string };
  return { address, cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

/** Sends the provider's answer to the portal, while a worker is running. */
export const finish = (
  portal: Pick<IdentityPortal, 'url' | 'db' | 'verifyIdentity'>,
  cookie: string,
  query: string,
): Promise<Response> =>
  withWorker(
    portal.db,
    () => post(portal, '/api/session/identity/answer', { query }, { cookie }),
    portal.verifyIdentity,
  );

/** Signs in to a migration, as a browser with this key. */
export async function signInWithAccount(
  portal: Omit<IdentityPortal, 'close'>,
  migrationId: string,
  publicKey?: string,
): Promise<Response> {
  const { address, cookie } = await begun(portal, migrationId, publicKey);
  return finish(portal, cookie, await portal.provider.signIn(address));
}

/** Returns the cookie of the session that an answer has set; empty if it has set none. */
export const sessionCookieOf = (answer: Response): string =>
  /__Host-tokenferry=[\w-]{43}/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? '';
