/** Signing in again with a registered key. */
import { sql } from 'kysely';
import { approverFingerprint } from '../../domain/migration/approvers';
import type { SignInAgain } from '../../portal/contract/session';
import { createPortalToken } from '../../security';
import { markKeyConfirmed, revokeInvitation } from '../../store';
import { createMigration, invite, json, openPortal, usePortal, type RunningPortal } from './running-portal';
import { newKey, signedSignIn, withWorker, type Key } from './signing-in';

const portal = usePortal({ answerWaitMs: 2_000 });

interface Person {
  readonly key: Key;
  readonly migrationId: string;
  readonly invitationId: string;
}

/** Creates a client whose key support has confirmed. */
async function registered({ db, url }: Pick<RunningPortal, 'db' | 'url'> = portal): Promise<Person> {
  const key = newKey();
  const migrationId = await createMigration(db);
  const { id: invitationId, token } = await invite(db, migrationId);
  const answer = await fetch(`${url}/api/session`, json({ invitation: token, publicKey: key.publicKey, as: 'token' }));
  expect(answer.status).toBe(200);
  await markKeyConfirmed(db, invitationId);
  return { key, migrationId, invitationId };
}

const renew = (body: SignInAgain | object, headers: Record<string, string> = {}, url = portal.url) => {
  const request = json(body);
  return fetch(`${url}/api/session/renewal`, { ...request, headers: { ...request.headers, ...headers } });
};

const sessionsOf = async ({ invitationId }: Person): Promise<number> => {
  const { rows } = await sql`select from portal_sessions where invitation_id = ${invitationId}`.execute(portal.db);
  return rows.length;
};

const readSession = (headers: Record<string, string>) => fetch(`${portal.url}/api/session`, { headers });

test('a program with a confirmed key gets a session, whose token it has created', async () => {
  const person = await registered();
  const body = signedSignIn(person.key, person.migrationId);
  const answer = await withWorker(portal.db, () => renew(body));
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null]);
  expect(await answer.json()).toMatchObject({
    person: 'Cleo',
    role: 'client',
    token: body.token,
    isKeyConfirmed: true,
  });
  expect((await readSession({ authorization: `Bearer ${body.token}` })).status).toBe(200);
});

test('a browser gets the session in a cookie', async () => {
  const { key, migrationId } = await registered();
  const body = { ...signedSignIn(key, migrationId), as: 'cookie' };
  const answer = await withWorker(portal.db, () => renew(body, { origin: portal.url }));
  expect(answer.status).toBe(200);
  expect(await answer.json()).not.toHaveProperty('token');
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^__Host-tokenferry=[\w-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict$/);
  expect((await readSession({ cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
});

test('the same request creates one session, even if it is repeated before a worker has answered', async () => {
  const person = await registered();
  const body = signedSignIn(person.key, person.migrationId);
  const waiting = await Promise.all([renew(body), renew(body)]);
  expect(waiting.map(({ status }) => status)).toEqual([503, 503]);
  expect(await waiting[0]?.json()).toMatchObject({ advice: 'Try again.' });
  const answers = await withWorker(portal.db, () => Promise.all([renew(body), renew(body)]));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await sessionsOf(person)).toBe(2); // one of them is from the invitation
});

test('the old request of a session that has ended does not renew the session', async () => {
  const { key, migrationId } = await registered();
  const body = signedSignIn(key, migrationId);
  await withWorker(portal.db, () => renew(body));
  const headers = { authorization: `Bearer ${body.token}` };
  await fetch(`${portal.url}/api/session`, { method: 'DELETE', headers });
  const again = await withWorker(portal.db, () => renew(body));
  expect(again.status).toBe(403);
  expect((await readSession(headers)).status).toBe(401);
});

describe('the portal sends no request to workers, and creates no session, if', () => {
  const other = newKey();
  const MINUTES_MS = 60_000;
  const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTES_MS).toISOString();

  test.each<[string, (person: Person) => SignInAgain | Promise<SignInAgain>]>([
    [
      'another key has signed',
      ({ key, migrationId }) => signedSignIn(other, migrationId, { publicKey: key.publicKey }),
    ],
    ['the key is unknown', ({ migrationId }) => signedSignIn(other, migrationId)],
    ['the key belongs to another migration', async ({ key }) => signedSignIn(key, await createMigration(portal.db))],
    [
      'the migration was changed',
      async ({ key, migrationId }) => ({ ...signedSignIn(key, await createMigration(portal.db)), migrationId }),
    ],
    [
      'the token was changed',
      ({ key, migrationId }) => ({ ...signedSignIn(key, migrationId), token: createPortalToken() }),
    ],
    ['the time was changed', ({ key, migrationId }) => ({ ...signedSignIn(key, migrationId), signedAt: ago(0.1) })],
    ['it was signed six minutes ago', ({ key, migrationId }) => signedSignIn(key, migrationId, { signedAt: ago(6) })],
    ['it was signed in the future', ({ key, migrationId }) => signedSignIn(key, migrationId, { signedAt: ago(-6) })],
    [
      'the invitation was revoked',
      async ({ key, migrationId, invitationId }) => {
        await revokeInvitation(portal.db, invitationId, 'Sam');
        return signedSignIn(key, migrationId);
      },
    ],
  ])('%s', async (_, bodyOf) => {
    const person = await registered();
    const before = await countSignIns();
    const answer = await renew(await bodyOf(person));
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await countSignIns()).toBe(before);
    expect(await sessionsOf(person)).toBe(1);
  });

  const countSignIns = async (): Promise<number> =>
    (await sql`select from portal_sign_ins`.execute(portal.db)).rows.length;
});

test('a person whose key support has not confirmed is told so', async () => {
  const person = await registered();
  await sql`update portal_invitations set key_confirmed_at = null where id = ${person.invitationId}`.execute(portal.db);
  const answer = await withWorker(portal.db, () => renew(signedSignIn(person.key, person.migrationId)));
  expect(answer.status).toBe(403);
  expect(await answer.json()).toEqual({
    error: 'Support has not confirmed your key yet.',
    advice: `Call your contact, read out the fingerprint of your key (${approverFingerprint(person.key)}), and sign in again.`,
  });
  expect(await sessionsOf(person)).toBe(1);
});

test.each<Record<string, string>>([
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'x-tokenferry-portal': '' },
  {}, // names no origin
])('a page of another site cannot sign a person in: %j', async (headers) => {
  const { key, migrationId } = await registered();
  const answer = await renew({ ...signedSignIn(key, migrationId), as: 'cookie' }, headers);
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
});

test.each<[string, object]>([
  ['a token that is too short', { token: 'short' }],
  ['an invalid key', { publicKey: 'x' }],
  ['a signature that is too long', { signature: 'a'.repeat(130) }],
  ['an invalid time', { signedAt: 'now' }],
  ['a migration with a long name', { migrationId: 'm'.repeat(201) }],
  ['an additional field', { more: true }],
])('%s is refused', async (_, fields) => {
  const { key, migrationId } = await registered();
  expect((await renew({ ...signedSignIn(key, migrationId), ...fields })).status).toBe(400);
});

test('attempts are limited per key, and per address', async () => {
  const impatient = await openPortal({ answerWaitMs: 1 });
  const limited = await openPortal({ limits: { redemptionsPerMinute: 2 } });
  try {
    const { key, migrationId } = await registered(impatient);
    const found = [];
    for (let attempt = 0; attempt < 6; attempt += 1)
      found.push(await renew(signedSignIn(key, migrationId), {}, impatient.url));
    expect(found.map(({ status }) => status)).toEqual([503, 503, 503, 503, 429, 429]);
    // A request that no worker answers counts for two minutes.
    expect(found[5]?.headers.get('retry-after')).toBe('120');
    // The same error is returned if there are too many requests of all keys, so it names no time.
    expect(await found[5]?.json()).toEqual({
      error: 'There are too many attempts to sign in.',
      advice: 'Try again in a few minutes. If this happens again, tell your contact.',
    });
    await sql`
      insert into portal_sign_ins (session_hash, migration_id, public_key, lifetime_ms, outcome, created_at)
      select sha256(convert_to(gen_random_uuid()::text, 'UTF8')), ${migrationId}, ${key.publicKey}, 60000, 'refused',
        now() - interval '30 minutes 30 seconds' from generate_series(1, 60)`.execute(impatient.db);
    const blocked = await renew(signedSignIn(key, migrationId), {}, impatient.url);
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(1_700);
    expect(await blocked.json()).toEqual({
      error: 'There are too many attempts to sign in. Your key can be used again in 30 minutes.',
      advice: 'Try again in 30 minutes.',
    });
    const guesses = [];
    for (let attempt = 0; attempt < 4; attempt += 1)
      guesses.push((await renew(signedSignIn(newKey(), 'none'), {}, limited.url)).status);
    expect(guesses).toEqual([403, 403, 429, 429]);
  } finally {
    await Promise.all([impatient.close(), limited.close()]);
  }
});
