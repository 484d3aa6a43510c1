/** Tests that a worker's checks of an ID token hold even if an attacker controls the portal. */
import { SignJWT } from 'jose';
import { identityNonce } from '../../../domain/migration/identity-sign-in';
import { createIdentityVerifier, createPortalToken, hashPortalToken } from '../../../security';
import { createIdentityInvitation, listInvitations, revokeInvitation, signInWithIdentity } from '../../../store';
import { CLEO, CLIENT_ID, TestIdentityProvider } from '../../portal/identity-provider';
import { createMigration } from '../../portal/running-portal';
import { answerSignIns, newKey } from '../../portal/signing-in';
import { call, HOUR_MS, usePortal, valueOf } from '../../store/portal/portal-role';
import { useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();
const portal = usePortal(ledger);
let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await new TestIdentityProvider().start();
});
beforeEach(() => provider.reset());
afterAll(() => provider.close());

interface Attempt {
  readonly migrationId: string;
  readonly publicKey: string;
  readonly session: Buffer;
  readonly nonce: string;
}

function attemptAt(migrationId: string): Attempt {
  const { publicKey } = newKey();
  const session = hashPortalToken(createPortalToken());
  const nonce = identityNonce({ migrationId, publicKey, sessionHash: session.toString('hex') });
  return { migrationId, publicKey, session, nonce };
}

async function invited(): Promise<Attempt & { readonly invitation: string }> {
  const migrationId = await createMigration(ledger.db);
  const invitation = await createIdentityInvitation(ledger.db, {
    ...{ migrationId, person: 'Cleo', role: 'client', email: CLEO.email, createdBy: 'Sam', issuer: provider.url },
    ...{ subject: null, expiresAt: new Date(Date.now() + HOUR_MS) },
  });
  return { ...attemptAt(migrationId), invitation };
}

/** Stores a request with the rights of the portal's database role. The ID token can be anything. */
const request = ({ migrationId, publicKey, session }: Attempt, idToken: unknown, account = CLEO) =>
  valueOf(
    ...([portal, 'request_identity_sign_in', session, migrationId, publicKey] as const),
    ...([provider.url, account.sub, account.email, JSON.stringify({ idToken }), HOUR_MS] as const),
  );

const verifier = () => createIdentityVerifier({ issuer: provider.url, clientId: CLIENT_ID });
const outcomeOf = ({ session }: Attempt) => valueOf(portal, 'sign_in_outcome', session);

test('creates the session of a person whose account was invited', async () => {
  const attempt = await invited();
  expect(await request(attempt, await provider.issue({ ...CLEO, nonce: attempt.nonce }))).toBe('stored');
  expect(await answerSignIns(ledger.db, verifier())).toBe(1);
  expect(await outcomeOf(attempt)).toBe('signed-in');
  expect(await call(portal, 'session', attempt.session)).toMatchObject([
    { invitation_id: attempt.invitation, public_key: attempt.publicKey, is_key_confirmed: false },
  ]);
});

const now = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** Returns an ID token that is signed with publicly known data. */
const forged = (payload: object): Promise<string> =>
  new SignJWT({ iss: provider.url, aud: CLIENT_ID, iat: now(0), exp: now(300), ...payload })
    .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
    .sign(new TextEncoder().encode(CLIENT_ID.repeat(4)));

const unsigned = (payload: object): string =>
  [{ alg: 'none' }, { iss: provider.url, aud: CLIENT_ID, iat: now(0), exp: now(300), ...payload }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.') + '.';

test.each<[string, (attempt: Attempt) => unknown]>([
  ['no ID token', () => undefined],
  ['something else', () => 'x.y.z'],
  ['the ID token of another session', ({ migrationId }) => issued({ nonce: attemptAt(migrationId).nonce })],
  ['the ID token of another migration', ({ publicKey, session }) => issuedFor('another', publicKey, session)],
  ['an ID token for another key', ({ migrationId, session }) => issuedFor(migrationId, newKey().publicKey, session)],
  ['an ID token without a nonce', () => issued({})],
  ['an ID token for another application', ({ nonce }) => issued({ nonce, aud: 'another' })],
  ['an ID token for several applications', ({ nonce }) => issued({ nonce, aud: [CLIENT_ID, 'another'] })],
  ['an ID token that was issued to another application', ({ nonce }) => issued({ nonce, azp: 'another' })],
  ['an ID token of another issuer', ({ nonce }) => issued({ nonce, iss: 'https://evil.example' })],
  ['an ID token that has expired', ({ nonce }) => issued({ nonce, iat: now(-300), exp: now(-60) })],
  ['an ID token that was issued long ago', ({ nonce }) => issued({ nonce, iat: now(-900), exp: now(900) })],
  ['an ID token without a time', ({ nonce }) => issued({ nonce, iat: undefined })],
  ['an address that is not verified', ({ nonce }) => issued({ nonce, email_verified: false })],
  ['an address whose verification is not stated clearly', ({ nonce }) => issued({ nonce, email_verified: 'false' })],
  [
    'an address other than the one that the portal has sent',
    ({ nonce }) => issued({ nonce, email: 'eve@acme.example' }),
  ],
  [
    'a key that is not published',
    ({ nonce }) => Object.assign(provider, { signsWithOtherKey: true }).issue({ ...CLEO, nonce }),
  ],
  ['a signature with a known secret', ({ nonce }) => forged({ ...CLEO, nonce })],
  ['no signature', ({ nonce }) => unsigned({ ...CLEO, nonce })],
])('a worker creates no session for %s', async (_, tokenOf) => {
  const attempt = await invited();
  expect(await request(attempt, await tokenOf(attempt))).toBe('stored');
  expect(await answerSignIns(ledger.db, verifier())).toBe(1);
  expect(await outcomeOf(attempt)).toBe('refused');
  expect(await call(portal, 'session', attempt.session)).toEqual([]);
  expect(await listInvitations(ledger.db, attempt.migrationId)).toMatchObject([{ subject: null, redeemedAt: null }]);
});

const issued = (payload: object): Promise<string> => provider.issue({ ...CLEO, ...payload });
const issuedFor = (migrationId: string, publicKey: string, session: Buffer): Promise<string> =>
  issued({ nonce: identityNonce({ migrationId, publicKey, sessionHash: session.toString('hex') }) });

test('an invitation for an account does not permit signing in with a key', async () => {
  const attempt = await invited();
  expect(
    await valueOf(portal, 'request_sign_in', attempt.session, attempt.migrationId, attempt.publicKey, '{}', HOUR_MS),
  ).toBe('refused');
});

test('a worker without an identity provider refuses the sign-in', async () => {
  const attempt = await invited();
  await request(attempt, await issued({ nonce: attempt.nonce }));
  await answerSignIns(ledger.db);
  expect(await outcomeOf(attempt)).toBe('refused');
});

test('a worker that cannot reach the identity provider leaves the request open, for another attempt', async () => {
  const attempt = await invited();
  const idToken = await issued({ nonce: attempt.nonce });
  await request(attempt, idToken);
  provider.isDown = true;
  await expect(answerSignIns(ledger.db, verifier())).rejects.toThrow(/identity provider .* cannot be read/);
  expect(await outcomeOf(attempt)).toBeNull();
});

test('a worker reads the keys only from the configuration of the issuer itself', async () => {
  const other = createIdentityVerifier({ issuer: `${provider.url}/`, clientId: CLIENT_ID });
  await expect(other(await issued({ nonce: 'n' }), 'n')).rejects.toThrow(/is invalid or names another issuer/);
  const unencrypted = createIdentityVerifier({ issuer: 'http://idp.example', clientId: CLIENT_ID });
  await expect(unencrypted('x', 'n')).rejects.toThrow(
    /^the address of the identity provider .* must begin with https:$/,
  );
});

test('the role stores nothing for an account that was not invited', async () => {
  const attempt = await invited();
  expect(await request(attempt, 'x', { ...CLEO, email: 'eve@acme.example' })).toBe('refused');
  expect(await request({ ...attempt, migrationId: await createMigration(ledger.db) }, 'x')).toBe('refused');
  await revokeInvitation(ledger.db, attempt.invitation, 'Sam');
  expect(await request(attempt, 'x')).toBe('refused');
});

test('of two first sign-ins at the same moment, only one registers its key, but both succeed', async () => {
  const first = await invited();
  const second = attemptAt(first.migrationId);
  for (const attempt of [first, second]) await request(attempt, await issued({ nonce: attempt.nonce }));
  const identity = { issuer: provider.url, subject: CLEO.sub, email: CLEO.email };
  const outcomes = await Promise.all(
    [first, second].map(({ session: sessionHash, ...others }) =>
      signInWithIdentity(ledger.db, { sessionHash, ...others }, identity),
    ),
  );
  expect(outcomes).toEqual(['signed-in', 'signed-in']);
  const keys = await Promise.all(
    [first, second].map(async ({ session }) => (await call(portal, 'session', session))[0]?.['public_key']),
  );
  expect(keys[0]).toBe(keys[1]);
  expect([first.publicKey, second.publicKey]).toContain(keys[0]);
});

test('a person with a new invitation registers the key of a new browser, and keeps the old key', async () => {
  const identity = { issuer: provider.url, subject: CLEO.sub, email: CLEO.email };
  const old = await invited();
  const signIn = async (attempt: Attempt) => {
    await request(attempt, 'x');
    const { session: sessionHash, ...others } = attempt;
    expect(await signInWithIdentity(ledger.db, { sessionHash, ...others }, identity)).toBe('signed-in');
    return (await call(portal, 'session', attempt.session))[0]?.['public_key'];
  };
  expect(await signIn(old)).toBe(old.publicKey);
  await createIdentityInvitation(ledger.db, {
    ...{ migrationId: old.migrationId, person: 'Cleo', role: 'client', email: CLEO.email, createdBy: 'Sam' },
    ...{ issuer: provider.url, subject: null, expiresAt: new Date(Date.now() + HOUR_MS) },
  });
  const inOldBrowser = { ...attemptAt(old.migrationId), publicKey: old.publicKey };
  expect(await signIn(inOldBrowser)).toBe(old.publicKey);
  const inNewBrowser = attemptAt(old.migrationId);
  expect(await signIn(inNewBrowser)).toBe(inNewBrowser.publicKey);
});
