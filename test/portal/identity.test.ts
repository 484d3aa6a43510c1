/** Signing in at an identity provider. */
import { sql } from 'kysely';
import { listInvitations, revokeInvitation } from '../../store';
import { useOpened } from '../support/async';
import { CLEO, type TestIdentityProvider } from './identity-provider';
import { json, openPortal } from './running-portal';
import { newKey } from './signing-in';
import {
  begin,
  begun,
  finish,
  inviteAccount,
  openIdentityPortal,
  sessionCookieOf,
  signInWithAccount,
} from './signing-in-with-account';

const portal = useOpened(() => openIdentityPortal());
beforeEach(() => portal.provider.reset());

const readSession = (cookie: string) => fetch(`${portal.url}/api/session`, { headers: { cookie } });
const countSignIns = async (): Promise<number> =>
  (await sql`select from portal_sign_ins`.execute(portal.db)).rows.length;
const invitationTo = async (migrationId: string) => (await listInvitations(portal.db, migrationId))[0];

/** Asserts that the portal has refused the account. */
async function refused(answer: Response): Promise<void> {
  expect([answer.status, sessionCookieOf(answer)]).toEqual([403, '']);
  const advice =
    'Sign in with the email address for which your contact created the invitation. If you already did, or if you do not know this address, ask your contact for a new invitation.';
  expect(await answer.json()).toEqual({ error: 'This account cannot be used to sign in.', advice });
}

test('a person with an invited account signs in, and the browser registers its key, which support has to confirm', async () => {
  const { migrationId } = await inviteAccount(portal, { email: 'Cleo@ACME.example' });
  const { publicKey } = newKey();
  const answer = await signInWithAccount(portal, migrationId, publicKey);
  expect(answer.status).toBe(200);
  const expected = { migrationId, person: 'Cleo', role: 'client', publicKey, isKeyConfirmed: false };
  expect(await answer.json()).toEqual({ ...expected, expiresAt: expect.any(String) as string });
  expect(answer.headers.getSetCookie()).toEqual([
    '__Host-tokenferry-sign-in=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict',
    expect.stringMatching(/^__Host-tokenferry=[\w-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict$/),
  ]);
  expect(await (await readSession(sessionCookieOf(answer))).json()).toMatchObject(expected);
  const invitation = { issuer: portal.provider.url, subject: CLEO.sub, publicKey, keyConfirmedAt: null, sessions: 1 };
  expect(await invitationTo(migrationId)).toMatchObject(invitation);
});

test('the request to the provider has PKCE, a new state and a new nonce, and leads back only to the portal', async () => {
  const { migrationId } = await inviteAccount(portal);
  const asked = async () => new URL((await begun(portal, migrationId)).address);
  const [first, second] = [await asked(), await asked()];
  expect(first.origin + first.pathname).toBe(`${portal.provider.url}/authorize`);
  expect(Object.fromEntries(first.searchParams)).toEqual({
    ...{ client_id: 'tokenferry-portal', response_type: 'code', scope: 'openid email' },
    ...{ redirect_uri: `${portal.url}/sign-in`, code_challenge_method: 'S256' },
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
    nonce: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  for (const name of ['code_challenge', 'state', 'nonce'])
    expect(second.searchParams.get(name)).not.toBe(first.searchParams.get(name));
  const page = await fetch(`${portal.url}/sign-in?code=x&state=y`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("form-action 'none'");
});

test('the cookie of a sign-in in progress is sent only to the portal, and scripts cannot read it', async () => {
  const { migrationId } = await inviteAccount(portal);
  const answer = await begin(portal, migrationId);
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-tokenferry-sign-in=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Strict$/,
    ),
  ]);
});

const SECONDS = 1;
const MINUTES = 60 * SECONDS;
const now = (difference: number): number => Math.floor(Date.now() / 1000) + difference;

describe('the portal sends no request to workers, and creates no session, if', () => {
  test.each<[string, (provider: TestIdentityProvider) => void]>([
    ['the ID token has another nonce', (provider) => (provider.claims = { nonce: 'a'.repeat(64) })],
    ['the ID token has no nonce', (provider) => (provider.claims = { nonce: undefined })],
    ['the ID token is for another application', (provider) => (provider.claims = { aud: 'another' })],
    [
      'the ID token was issued to another application',
      (provider) => (provider.claims = { aud: ['tokenferry-portal', 'another'], azp: 'another' }),
    ],
    ['the ID token is from another issuer', (provider) => (provider.claims = { iss: 'https://evil.example' })],
    ['the ID token has expired', (provider) => (provider.claims = { iat: now(-10 * MINUTES), exp: now(-5 * MINUTES) })],
    ['the signature is of another key', (provider) => (provider.signsWithOtherKey = true)],
    ['the email address is not verified', (provider) => (provider.claims = { email_verified: false })],
    ['the provider does not say that it is verified', (provider) => (provider.claims = { email_verified: undefined })],
    ['the ID token has no email address', (provider) => (provider.claims = { email: undefined })],
    ['the email address was not invited', (provider) => (provider.claims = { email: 'eve@acme.example' })],
    ['the state is wrong', (provider) => (provider.answer = { state: 'a'.repeat(43) })],
    ['the provider refuses', (provider) => (provider.answer = { error: 'unauthorized_client' })],
  ])('%s', async (_, change) => {
    const { migrationId } = await inviteAccount(portal);
    change(portal.provider);
    const before = await countSignIns();
    await refused(await signInWithAccount(portal, migrationId));
    expect(await countSignIns()).toBe(before);
    expect(await invitationTo(migrationId)).toMatchObject({ subject: null, redeemedAt: null, sessions: 0 });
  });

  test('the person cancels the sign-in at the provider, which the answer says', async () => {
    const { migrationId } = await inviteAccount(portal);
    portal.provider.answer = { error: 'access_denied' };
    const before = await countSignIns();
    const answer = await signInWithAccount(portal, migrationId);
    expect([answer.status, sessionCookieOf(answer), await countSignIns()]).toEqual([403, '', before]);
    const error = 'The sign-in was cancelled or denied at the identity provider.';
    expect(await answer.json()).toEqual({ error, advice: 'If you did not cancel it, tell your contact.' });
  });

  test('the code was used before', async () => {
    const { migrationId } = await inviteAccount(portal);
    const { address, cookie } = await begun(portal, migrationId);
    const query = await portal.provider.signIn(address);
    expect((await finish(portal, cookie, query)).status).toBe(200);
    await refused(await finish(portal, cookie, query));
  });

  test('another browser has begun the sign-in, or no browser has', async () => {
    const { migrationId } = await inviteAccount(portal);
    const [mine, other] = [await begun(portal, migrationId), await begun(portal, migrationId)];
    const query = await portal.provider.signIn(other.address);
    await refused(await finish(portal, mine.cookie, query));
    const exchanges = portal.provider.exchanges.length;
    for (const cookie of ['', '__Host-tokenferry-sign-in=x', `${mine.cookie}; ${other.cookie}`]) {
      const answer = await finish(portal, cookie, query);
      expect([answer.status, sessionCookieOf(answer)]).toEqual([403, '']);
    }
    expect(portal.provider.exchanges).toHaveLength(exchanges);
  });
});

test('after the first sign-in, the id of the account must match, not its email address', async () => {
  const { migrationId } = await inviteAccount(portal);
  expect((await signInWithAccount(portal, migrationId)).status).toBe(200);
  portal.provider.account = { ...CLEO, sub: 'account-of-another-person' };
  await refused(await signInWithAccount(portal, migrationId));
  portal.provider.account = { ...CLEO, email: 'cleo.new@acme.example' };
  expect((await signInWithAccount(portal, migrationId)).status).toBe(200);
});

test('an invitation for an account with a certain id cannot be used with another account', async () => {
  const { migrationId } = await inviteAccount(portal, { subject: 'a-certain-id' });
  await refused(await signInWithAccount(portal, migrationId));
  portal.provider.account = { ...CLEO, sub: 'a-certain-id', email: 'other@acme.example' };
  await refused(await signInWithAccount(portal, migrationId));
  portal.provider.account = { ...CLEO, sub: 'a-certain-id' };
  expect((await signInWithAccount(portal, migrationId)).status).toBe(200);
});

test('in another browser, a person signs in without a key, and the key of the first browser stays', async () => {
  const { migrationId } = await inviteAccount(portal);
  const { publicKey } = newKey();
  await signInWithAccount(portal, migrationId, publicKey);
  const other = await signInWithAccount(portal, migrationId, newKey().publicKey);
  expect(await other.json()).toMatchObject({ publicKey });
  expect(await invitationTo(migrationId)).toMatchObject({ publicKey, sessions: 2 });
});

test('a viewer registers no key, and signs in again', async () => {
  const { migrationId } = await inviteAccount(portal, { role: 'viewer' });
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect(await (await signInWithAccount(portal, migrationId)).json()).toMatchObject({
      ...{ role: 'viewer', publicKey: null },
    });
});

test('an account of one migration cannot sign in to another', async () => {
  const { migrationId } = await inviteAccount(portal);
  const other = await inviteAccount(portal, { email: 'finn@acme.example' });
  expect((await signInWithAccount(portal, migrationId)).status).toBe(200);
  await refused(await signInWithAccount(portal, other.migrationId));
});

test('an invitation for another identity provider cannot be used with this provider', async () => {
  const { migrationId } = await inviteAccount(portal, { issuer: 'https://another.example' });
  await refused(await signInWithAccount(portal, migrationId));
});

test('an invitation that was revoked, or has expired unused, cannot be used to sign in; a used invitation does not expire', async () => {
  const revoked = await inviteAccount(portal);
  await signInWithAccount(portal, revoked.migrationId);
  await revokeInvitation(portal.db, revoked.id, 'Sam');
  await refused(await signInWithAccount(portal, revoked.migrationId));
  const expired = await inviteAccount(portal, { expiresAt: new Date(Date.now() - 1_000) });
  await refused(await signInWithAccount(portal, expired.migrationId));
  const used = await inviteAccount(portal);
  await signInWithAccount(portal, used.migrationId);
  await sql`update portal_invitations set expires_at = now() - interval '1 day' where id = ${used.id}`.execute(
    portal.db,
  );
  expect((await signInWithAccount(portal, used.migrationId)).status).toBe(200);
});

test('signing out ends the session, and a repetition of its sign-in does not renew it', async () => {
  const { migrationId } = await inviteAccount(portal);
  const { address, cookie: begunWith } = await begun(portal, migrationId);
  const query = await portal.provider.signIn(address);
  const cookie = sessionCookieOf(await finish(portal, begunWith, query));
  const headers = { cookie, origin: portal.url, 'x-tokenferry-portal': '1' };
  expect((await fetch(`${portal.url}/api/session`, { method: 'DELETE', headers })).status).toBe(204);
  expect((await readSession(cookie)).status).toBe(401);
  await refused(await finish(portal, begunWith, query));
  expect((await readSession(cookie)).status).toBe(401);
});

test.each<Record<string, string>>([
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'x-tokenferry-portal': '' },
])('a page of another site cannot begin to sign a person in: %j', async (headers) => {
  const { migrationId } = await inviteAccount(portal);
  const answer = await begin(portal, migrationId, undefined, headers);
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
});

test('a program learns that it cannot sign in with an account', async () => {
  const { migrationId } = await inviteAccount(portal);
  const body = { migrationId, publicKey: newKey().publicKey };
  const answer = await fetch(`${portal.url}/api/session/identity`, json(body));
  const error = 'The request does not say from which page it comes.';
  const advice = 'A program cannot sign in with an account. Open the link of the invitation in a browser.';
  expect([answer.status, await answer.json()]).toEqual([403, { error, advice }]);
});

test('the portal says that the provider does not answer, and works once the provider answers again', async () => {
  const other = await openIdentityPortal();
  try {
    const { migrationId } = await inviteAccount(other);
    other.provider.isDown = true;
    const answer = await begin(other, migrationId);
    expect(answer.status).toBe(503);
    const error = 'The portal cannot sign you in with your account at the moment.';
    expect(await answer.json()).toMatchObject({ error });
    other.provider.isDown = false;
    const { address, cookie } = await begun(other, migrationId);
    const query = await other.provider.signIn(address);
    other.provider.isDown = true;
    expect((await finish(other, cookie, query)).status).toBe(503);
    other.provider.isDown = false;
    expect((await signInWithAccount(other, migrationId)).status).toBe(200);
  } finally {
    await other.close();
  }
});

test('a portal without a secret uses PKCE instead of a secret, and attempts are limited', async () => {
  const other = await openIdentityPortal({ limits: { redemptionsPerMinute: 2 } }, null);
  try {
    const { migrationId } = await inviteAccount(other);
    expect((await signInWithAccount(other, migrationId)).status).toBe(200);
    expect(other.provider.exchanges[0]?.get('client_secret')).toBeNull();
    expect((await begin(other, migrationId)).status).toBe(200);
    expect((await begin(other, migrationId)).status).toBe(429);
    expect((await finish(other, '', '?code=x')).status).toBe(403);
    expect((await finish(other, '', '?code=x')).status).toBe(429);
  } finally {
    await other.close();
  }
});

test('without an identity provider, the routes for accounts do not exist', async () => {
  const other = await openPortal();
  try {
    expect((await fetch(`${other.url}/sign-in?code=x`)).status).toBe(404);
    const error = 'This portal has no identity provider, so you cannot sign in with an account.';
    const advice = 'Tell your contact, who can also send you an invitation that needs no account.';
    const finished = await finish({ ...other, verifyIdentity: portal.verifyIdentity }, '', '?code=x');
    for (const answer of [await begin(other, 'some'), finished])
      expect([answer.status, await answer.json()]).toEqual([404, { error, advice }]);
  } finally {
    await other.close();
  }
});

test('neither the log nor the database keeps tokens, codes or email addresses from the identity provider', async () => {
  const { migrationId } = await inviteAccount(portal);
  const { address, cookie } = await begun(portal, migrationId);
  const query = await portal.provider.signIn(address);
  await finish(portal, cookie, query);
  const exchange = portal.provider.exchanges.at(-1);
  const log = portal.log.join('');
  for (const secret of [portal.provider.idToken, exchange?.get('code'), exchange?.get('code_verifier'), CLEO.email]) {
    expect(secret?.length).toBeGreaterThan(10);
    expect(log).not.toContain(secret);
  }
  const { rows } = await sql`select from portal_sign_ins where proof is not null and outcome is not null`.execute(
    portal.db,
  );
  expect(rows).toEqual([]);
});
