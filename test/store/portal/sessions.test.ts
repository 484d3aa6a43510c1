import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createPortalToken, fingerprintOf, hashPortalToken } from '../../../security';
import {
  findInvitationByFingerprint,
  listInvitations,
  markKeyConfirmed,
  revokeInvitation,
  supplyMigration,
} from '../../../store';
import { manifestRows, suppliedMigration, useLedger } from '../../support/migrations/ledger';
import { call, connectAsPortal, HOUR_MS, invite, PUBLIC_KEY, redeem, usePortal, valueOf } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);

async function createMigration(): Promise<string> {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(2));
  return migration.id;
}

const newSession = () => hashPortalToken(createPortalToken());

test('an invitation becomes a session with its person, role and migration', async () => {
  const migrationId = await createMigration();
  const { id, token } = await invite(ledger.db, migrationId);
  const session = newSession();
  const facts = {
    ...{ invitation_id: id, migration_id: migrationId, person: 'Cleo', role: 'client', public_key: PUBLIC_KEY },
    ...{ is_key_confirmed: false, expires_at: expect.any(Date) as Date },
  };
  expect(await call(portal, 'redeem', hashPortalToken(token), session, PUBLIC_KEY, HOUR_MS)).toEqual([facts]);
  expect(await call(portal, 'session', session)).toEqual([facts]);
  expect(await markKeyConfirmed(ledger.db, id)).toBe(true);
  expect(await call(portal, 'session', session)).toEqual([{ ...facts, is_key_confirmed: true }]);
});

test('the database contains neither tokens nor sessions, only their hashes', async () => {
  const { token } = await invite(ledger.db, await createMigration());
  await redeem(portal, token);
  const { rows } = await sql<{ text: string }>`
    select i::text || s::text as text from portal_invitations i join portal_sessions s on s.invitation_id = i.id`.execute(
    ledger.db,
  );
  const everything = rows.map(({ text }) => text).join();
  expect(everything).toContain(hashPortalToken(token).toString('hex'));
  expect(everything).not.toContain(token);
  expect(everything).not.toContain(Buffer.from(token).toString('hex'));
});

test('if ten browsers use one link at once, only one gets a session', async () => {
  const { token } = await invite(ledger.db, await createMigration());
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectAsPortal(ledger)));
  const results = await Promise.all(
    clients.map((client) => call(client, 'redeem', hashPortalToken(token), newSession(), PUBLIC_KEY, HOUR_MS)),
  );
  expect(results.flat()).toHaveLength(1);
  await Promise.all(clients.map((client) => client.end()));
});

test.each<[string, (facts: { id: string; token: string }) => Promise<unknown>]>([
  ['used', ({ token }) => redeem(portal, token)],
  ['revoked', ({ id }) => revokeInvitation(ledger.db, id, 'Sam')],
  ['expired', ({ id }) => sql`update portal_invitations set expires_at = now() where id = ${id}`.execute(ledger.db)],
])('a link that was %s opens no session', async (_, spoil) => {
  const invitation = await invite(ledger.db, await createMigration());
  await spoil(invitation);
  const token = hashPortalToken(invitation.token);
  expect(await call(portal, 'redeem', token, newSession(), PUBLIC_KEY, HOUR_MS)).toEqual([]);
});

test('an invitation is not used up by a wrong key, hash or lifetime', async () => {
  const { token } = await invite(ledger.db, await createMigration());
  const hash = hashPortalToken(token);
  const tries: readonly (readonly unknown[])[] = [
    [hash, newSession(), null, HOUR_MS],
    [hash, newSession(), 'AB'.repeat(32), HOUR_MS],
    [hash, Buffer.from('short'), PUBLIC_KEY, HOUR_MS],
    [hash, newSession(), PUBLIC_KEY, 0],
    [hash, newSession(), PUBLIC_KEY, 365 * 24 * HOUR_MS],
    [Buffer.from(token), newSession(), PUBLIC_KEY, HOUR_MS],
    [null, newSession(), PUBLIC_KEY, HOUR_MS],
  ];
  for (const values of tries) expect(await call(portal, 'redeem', ...values)).toEqual([]);
  await redeem(portal, token);
});

test('a viewer has no key, even if the browser sends a key', async () => {
  const { token } = await invite(ledger.db, await createMigration(), { role: 'viewer' });
  const session = await redeem(portal, token);
  expect(await call(portal, 'session', session)).toMatchObject([{ role: 'viewer', public_key: null }]);
});

test.each<[string, (session: Buffer, invitation: string) => Promise<unknown>]>([
  ['ended', (session) => call(portal, 'end_session', session)],
  [
    'expired',
    (session) => sql`update portal_sessions set expires_at = now() where session_hash = ${session}`.execute(ledger.db),
  ],
  [
    'not used for three days',
    (session) =>
      sql`update portal_sessions set last_used_at = now() - interval '3 days' where session_hash = ${session}`.execute(
        ledger.db,
      ),
  ],
  ['revoked', (_, invitation) => revokeInvitation(ledger.db, invitation, 'Sam')],
  ['unknown', async (session) => session.fill(0)],
])('a session that is %s gets nothing from any function', async (_, end) => {
  const migrationId = await createMigration();
  const { id, token } = await invite(ledger.db, migrationId);
  const session = await redeem(portal, token);
  const request = randomUUID();
  const everything = async () => ({
    session: await call(portal, 'session', session),
    live: await valueOf(portal, 'live_sessions', [session]),
    view: await call(portal, 'view', session),
    companies: await call(portal, 'companies', session, null, null, null, null, 10),
    answer: await call(portal, 'answer', session, request),
    submit: await valueOf(portal, 'submit', session, request, 'report', '{}'),
  });
  const before = await everything();
  expect(before).toMatchObject({ submit: 'stored', live: [session] });
  expect(before.companies).toHaveLength(2);
  await sql`
    update portal_requests set answer = '{}', answered_at = now(), body = null where id = ${request}`.execute(
    ledger.db,
  );
  expect(await valueOf(portal, 'answer', session, request)).toEqual({});

  await end(session, id);
  expect(await everything()).toEqual({
    ...{ session: [], live: [], view: [], companies: [], answer: [], submit: null },
  });
});

test('a session that is used does not expire as idle', async () => {
  const { token } = await invite(ledger.db, await createMigration());
  const session = await redeem(portal, token);
  const usedAt = async () => (await listInvitations(ledger.db, null))[0]?.lastUsedAt?.getTime() ?? 0;
  const opened = await usedAt();
  await call(portal, 'session', session);
  expect(await usedAt()).toBe(opened); // the time is stored at most once a minute
  await sql`update portal_sessions set last_used_at = now() - interval '11 hours'`.execute(ledger.db);
  expect(await call(portal, 'session', session)).toHaveLength(1);
  expect(await usedAt()).toBeGreaterThan(opened);
});

test('lists invitations, and finds an invitation by the fingerprint of its key until it is revoked', async () => {
  const migrationId = await createMigration();
  const other = await createMigration();
  const first = await invite(ledger.db, migrationId, { email: 'cleo@example.com' });
  const key = 'cd'.repeat(32);
  await redeem(portal, first.token, key);
  await invite(ledger.db, other);
  expect(await listInvitations(ledger.db, migrationId)).toMatchObject([
    { id: first.id, person: 'Cleo', email: 'cleo@example.com', sessions: 1, publicKey: key, keyConfirmedAt: null },
  ]);
  const fingerprint = fingerprintOf(Buffer.from(key, 'hex'));
  const typed = fingerprint.toUpperCase().replaceAll('-', ' ');
  expect(await findInvitationByFingerprint(ledger.db, migrationId, typed)).toMatchObject({ id: first.id });
  expect(await findInvitationByFingerprint(ledger.db, other, fingerprint)).toBeUndefined();

  expect(await revokeInvitation(ledger.db, first.id, 'Sam')).toBe(true);
  expect(await revokeInvitation(ledger.db, first.id, 'Sue')).toBe(false);
  expect(await markKeyConfirmed(ledger.db, first.id)).toBe(false);
  expect(await findInvitationByFingerprint(ledger.db, migrationId, fingerprint)).toBeUndefined();
  expect(await listInvitations(ledger.db, migrationId)).toMatchObject([{ revokedBy: 'Sam', sessions: 0 }]);
});
