/** The sign-ins that the portal's database role can request, and how a worker answers them. */
import { sql } from 'kysely';
import { createPortalToken, hashPortalToken } from '../../../security';
import {
  deleteOldPortalRequests,
  markKeyConfirmed,
  revokeInvitation,
  signInWithKey,
  supplyMigration,
  takeSignIns,
} from '../../../store';
import { answerSignIns, newKey, signedSignIn, type Key } from '../../portal/signing-in';
import { manifestRows, suppliedMigration, useLedger } from '../../support/migrations/ledger';
import { call, connectAsPortal, HOUR_MS, invite, redeem, usePortal, valueOf } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);
beforeEach(() => sql`delete from portal_sign_ins`.execute(ledger.db));

async function registered(changes: { readonly isConfirmed?: boolean } = {}) {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(2));
  const { id: invitation, token } = await invite(ledger.db, migration.id);
  const key = newKey();
  const first = await redeem(portal, token, key.publicKey);
  if (changes.isConfirmed !== false) await markKeyConfirmed(ledger.db, invitation);
  return { key, invitation, migrationId: migration.id, first };
}

/**
 * Stores a request to sign in, as an attacker who controls the portal can. Returns the hash of its session, and the
 * result.
 */
async function request(key: Key, migrationId: string, proof: object | string = {}): Promise<[Buffer, unknown]> {
  const { token, signedAt, signature } = signedSignIn(key, migrationId);
  const session = hashPortalToken(token);
  const content = typeof proof === 'string' ? proof : JSON.stringify({ signedAt, signature, ...proof });
  return [session, await valueOf(portal, 'request_sign_in', session, migrationId, key.publicKey, content, HOUR_MS)];
}

test('a worker creates a session for a person who has signed the request', async () => {
  const { key, invitation, migrationId } = await registered();
  const [session, result] = await request(key, migrationId);
  expect(result).toBe('stored');
  expect(await call(portal, 'session', session)).toEqual([]);
  expect(await answerSignIns(ledger.db)).toBe(1);
  expect(await valueOf(portal, 'sign_in_outcome', session)).toBe('signed-in');
  expect(await call(portal, 'session', session)).toMatchObject([
    { invitation_id: invitation, migration_id: migrationId, public_key: key.publicKey, is_key_confirmed: true },
  ]);
});

const MINUTE_MS = 60_000;
const at = (differenceMs: number) => new Date(Date.now() + differenceMs).toISOString();

test.each<[string, (key: Key, migrationId: string) => object | string]>([
  ['no proof', () => '{}'],
  ['a proof that is null', () => 'null'],
  ['a signature of another key', (_, migrationId) => ({ signature: signedSignIn(newKey(), migrationId).signature })],
  ['the signature of another session', (key, migrationId) => ({ signature: signedSignIn(key, migrationId).signature })],
  ['the signature of another migration', (key) => ({ signature: signedSignIn(key, 'another').signature })],
  ['another time', () => ({ signedAt: at(-1_000) })],
  ['more than a proof', () => ({ more: true })],
])('a worker creates no session for %s', async (_, proofOf) => {
  const { key, migrationId } = await registered();
  const [session, result] = await request(key, migrationId, proofOf(key, migrationId));
  expect(result).toBe('stored');
  expect(await answerSignIns(ledger.db)).toBe(1);
  expect(await valueOf(portal, 'sign_in_outcome', session)).toBe('refused');
  expect(await call(portal, 'session', session)).toEqual([]);
});

test.each([-6 * MINUTE_MS, 6 * MINUTE_MS])('a worker refuses a signature of %d ms from now', async (differenceMs) => {
  const { key, migrationId } = await registered();
  const { token, signedAt, signature } = signedSignIn(key, migrationId, { signedAt: at(differenceMs) });
  const session = hashPortalToken(token);
  const content = JSON.stringify({ signedAt, signature });
  await valueOf(portal, 'request_sign_in', session, migrationId, key.publicKey, content, HOUR_MS);
  await answerSignIns(ledger.db);
  expect(await valueOf(portal, 'sign_in_outcome', session)).toBe('refused');
});

test('a worker refuses a key that is not confirmed, and an invitation that has been revoked in the meantime', async () => {
  const unconfirmed = await registered({ isConfirmed: false });
  const [first] = await request(unconfirmed.key, unconfirmed.migrationId);
  const revoked = await registered();
  const [second] = await request(revoked.key, revoked.migrationId);
  await revokeInvitation(ledger.db, revoked.invitation, 'Sam');
  await answerSignIns(ledger.db);
  expect(await valueOf(portal, 'sign_in_outcome', first)).toBe('unconfirmed');
  expect(await valueOf(portal, 'sign_in_outcome', second)).toBe('refused');
  expect(await call(portal, 'session', first)).toEqual([]);
  expect(await call(portal, 'session', second)).toEqual([]);
});

test('a request is used once: not again while it is open, after the session has ended, or after it was deleted', async () => {
  const { key, migrationId } = await registered();
  const { token, signedAt, signature } = signedSignIn(key, migrationId);
  const session = hashPortalToken(token);
  const store = () =>
    valueOf(portal, 'request_sign_in', session, migrationId, key.publicKey, { signedAt, signature }, HOUR_MS);
  expect([await store(), await store()]).toEqual(['stored', 'exists']);
  await answerSignIns(ledger.db);
  await call(portal, 'end_session', session);
  expect(await store()).toBe('exists');
  expect(await answerSignIns(ledger.db)).toBe(0);
  await sql`delete from portal_sign_ins`.execute(ledger.db);
  expect(await store()).toBe('stored');
  await answerSignIns(ledger.db);
  expect(await valueOf(portal, 'sign_in_outcome', session)).toBe('refused');
  expect(await call(portal, 'session', session)).toEqual([]);
});

test('two workers that carry out one request create one session', async () => {
  const { key, migrationId, invitation } = await registered();
  const [sessionHash] = await request(key, migrationId);
  const carryOut = () => signInWithKey(ledger.db, { sessionHash, migrationId, publicKey: key.publicKey });
  expect((await Promise.all([carryOut(), carryOut()])).sort()).toEqual(['refused', 'signed-in']);
  expect(await valueOf(portal, 'sign_in_outcome', sessionHash)).toBe('signed-in');
  const { rows } = await sql`select from portal_sessions where invitation_id = ${invitation}`.execute(ledger.db);
  expect(rows).toHaveLength(2);
});

test('the role stores nothing without a registered key, with a wrong size, or with a wrong lifetime', async () => {
  const { key, migrationId, invitation } = await registered();
  const session = hashPortalToken(createPortalToken());
  const other = suppliedMigration();
  await supplyMigration(ledger.db, other, manifestRows(2));
  const refused: readonly (readonly unknown[])[] = [
    [session, migrationId, newKey().publicKey, '{}', HOUR_MS],
    [session, other.id, key.publicKey, '{}', HOUR_MS],
    [session, 'none', key.publicKey, '{}', HOUR_MS],
    [session, null, key.publicKey, '{}', HOUR_MS],
    [session, migrationId, null, '{}', HOUR_MS],
    [null, migrationId, key.publicKey, '{}', HOUR_MS],
    [Buffer.from('short'), migrationId, key.publicKey, '{}', HOUR_MS],
    [session, migrationId, key.publicKey, null, HOUR_MS],
    [session, migrationId, key.publicKey, JSON.stringify({ long: 'x'.repeat(16_384) }), HOUR_MS],
    [session, migrationId, key.publicKey, '{}', null],
    [session, migrationId, key.publicKey, '{}', 0],
    [session, migrationId, key.publicKey, '{}', 365 * 24 * HOUR_MS],
  ];
  for (const values of refused) expect(await valueOf(portal, 'request_sign_in', ...values)).toBe('refused');
  await revokeInvitation(ledger.db, invitation, 'Sam');
  expect((await request(key, migrationId))[1]).toBe('refused');
});

test('requests are limited per key and in total, until they expire or are answered', async () => {
  const { key, migrationId } = await registered();
  const results = [];
  for (let attempt = 0; attempt < 5; attempt += 1) results.push((await request(key, migrationId))[1]);
  expect(results).toEqual(['stored', 'stored', 'stored', 'stored', 'busy']);
  await sql`update portal_sign_ins set created_at = now() - interval '2 minutes'`.execute(ledger.db);
  expect(await answerSignIns(ledger.db)).toBe(0); // they have expired
  expect((await request(key, migrationId))[1]).toBe('stored');
  expect(await answerSignIns(ledger.db)).toBe(1);

  await insertSignIns(migrationId, key.publicKey, 60, 'refused');
  // Says how many seconds it takes until one of the latest 60 requests is an hour old.
  await sql`update portal_sign_ins set created_at = now() - interval '30 minutes'`.execute(ledger.db);
  expect((await request(key, migrationId))[1]).toMatch(/^busy (1800|17\d\d)$/);
  const other = await registered();
  expect((await request(other.key, other.migrationId))[1]).toBe('stored');
  await insertSignIns(migrationId, key.publicKey, 100, null);
  expect((await request(other.key, other.migrationId))[1]).toBe('busy');
});

test('of requests at the same moment, no more are stored than the limit allows', async () => {
  const { key, migrationId } = await registered();
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectAsPortal(ledger)));
  const results = await Promise.all(
    clients.map((client) =>
      valueOf(client, 'request_sign_in', hashPortalToken(createPortalToken()), migrationId, key.publicKey, {}, HOUR_MS),
    ),
  );
  expect(results.filter((each) => each === 'stored')).toHaveLength(4);
  await Promise.all(clients.map((client) => client.end()));
});

test('an invitation has at most ten sessions: a new session ends the oldest session', async () => {
  const { key, migrationId, first } = await registered();
  for (let count = 0; count < 10; count += 1) {
    expect(await call(portal, 'session', first)).toHaveLength(1);
    await request(key, migrationId);
    await answerSignIns(ledger.db);
  }
  expect(await call(portal, 'session', first)).toEqual([]);
});

test('a request is taken by workers of its namespace, once per lease, and deleted after an hour', async () => {
  const { key, migrationId } = await registered();
  await sql`update migrations set namespace = 'here' where id = ${migrationId}`.execute(ledger.db);
  await request(key, migrationId);
  const take = (namespace: string, leaseMs: number) => takeSignIns(ledger.db, { namespace, limit: 10, leaseMs });
  expect(await take('elsewhere', 0)).toEqual([]);
  expect(await take('here', 10_000)).toHaveLength(1);
  expect(await take('here', 10_000)).toEqual([]);
  expect(await take('here', 0)).toHaveLength(1);
  await sql`update portal_sign_ins set created_at = now() - interval '61 minutes'`.execute(ledger.db);
  await deleteOldPortalRequests(ledger.db);
  expect((await sql`select from portal_sign_ins`.execute(ledger.db)).rows).toEqual([]);
});

/**
 * Inserts `count` requests to sign in with a key.
 *
 * @param outcome null for open requests
 */
async function insertSignIns(migrationId: string, key: string, count: number, outcome: string | null): Promise<void> {
  await sql`
    insert into portal_sign_ins (session_hash, migration_id, public_key, proof, lifetime_ms, outcome)
    select sha256(convert_to(gen_random_uuid()::text, 'UTF8')), ${migrationId}, ${key},
      case when ${outcome}::text is null then '{}'::jsonb end, 60000, ${outcome}
    from generate_series(1, ${count})`.execute(ledger.db);
}
