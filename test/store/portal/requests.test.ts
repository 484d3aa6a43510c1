import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  answerPortalRequest,
  deleteOldPortalRequests,
  postponePortalRequest,
  revokeInvitation,
  takePortalRequests,
} from '../../../store';
import { useLedger } from '../../support/migrations/ledger';
import { call, connectAsPortal, invite, openSession, redeem, usePortal, valueOf } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);
beforeEach(() => sql`truncate portal_requests`.execute(ledger.db));

const submit = (session: Buffer, kind = 'decide', body: object = { message: 'approve' }, id: string = randomUUID()) =>
  valueOf(portal, 'submit', session, id, kind, JSON.stringify(body));
const take = (limit = 100, leaseMs = 60_000, namespace = 'default') =>
  takePortalRequests(ledger.db, { namespace, limit, leaseMs });

describe('a request', () => {
  test('reaches a worker with the facts of its invitation, and its answer reaches the same invitation only', async () => {
    const { migrationId, invitation, session } = await openSession(ledger, portal);
    const colleague = await redeem(portal, (await invite(ledger.db, migrationId)).token);
    const id = randomUUID();
    expect(await submit(session, 'credentials', { sealed: 'a box' }, id)).toBe('stored');
    expect(await submit(session, 'credentials', { sealed: 'a box' }, id)).toBe('exists');
    expect(await submit(colleague, 'decide', {}, id)).toBe('refused');
    expect(await call(portal, 'answer', session, id)).toEqual([{ answer: null }]);
    expect(await take()).toEqual([
      {
        ...{ id, migrationId, kind: 'credentials', body: { sealed: 'a box' }, invitationId: invitation },
        ...{ person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32), isKeyConfirmed: false },
        ...{ createdAt: expect.any(Date) as Date, attempts: 1, decisionId: null },
      },
    ]);
    expect(await answerPortalRequest(ledger.db, id, { outcome: 'stored' })).toBe(true);
    expect(await answerPortalRequest(ledger.db, id, { outcome: 'failed' })).toBe(false);
    expect(await valueOf(portal, 'answer', session, id)).toEqual({ outcome: 'stored' });
    expect(await call(portal, 'answer', colleague, id)).toEqual([]);
    expect(await submit(session, 'credentials', { sealed: 'a box' }, id)).toBe('exists');
    const { rows } = await sql<{ text: string }>`select r::text as text from portal_requests r`.execute(ledger.db);
    expect(rows[0]?.text).not.toContain('a box');
  });

  test('is taken once by concurrent workers, and again after the lease', async () => {
    for (let each = 0; each < 20; each += 1) await submit((await openSession(ledger, portal)).session);
    const taken = (await Promise.all(Array.from({ length: 10 }, () => take(5)))).flat();
    expect(new Set(taken.map(({ id }) => id)).size).toBe(20);
    expect(taken).toHaveLength(20);
    expect(await take()).toEqual([]);
    await sql`update portal_requests set due_at = now()`.execute(ledger.db);
    expect(await take()).toHaveLength(20);
  });

  test('is taken after earlier requests of the same person, even with another invitation, have been answered', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    const tablet = await redeem(portal, (await invite(ledger.db, migrationId)).token);
    const colleague = await redeem(portal, (await invite(ledger.db, migrationId, { person: 'Clara' })).token);
    const ids: string[] = [];
    for (const from of [session, tablet, session, session, colleague]) {
      ids.push(randomUUID());
      await submit(from, 'decide', {}, ids.at(-1));
    }
    // Reverses the times, because the order must not depend on the clock.
    await sql`update portal_requests set created_at = created_at - position * interval '1 hour'`.execute(ledger.db);
    const takenByTwo = async () => (await Promise.all([take(), take()])).flat().map(({ id }) => ids.indexOf(id));
    expect((await takenByTwo()).sort()).toEqual([0, 4]);
    expect(await takenByTwo()).toEqual([]);
    for (const next of [1, 2, 3]) {
      await answerPortalRequest(ledger.db, ids[next - 1] ?? '', {});
      expect(await takenByTwo()).toEqual([next]);
    }
  });

  test('that has crashed three workers is taken without its body, so that reading it cannot crash another', async () => {
    const { session } = await openSession(ledger, portal);
    await submit(session, 'decide', { decision: { decisionId: 'one' } });
    await submit((await openSession(ledger, portal)).session);
    for (const attempts of [1, 2, 3])
      expect(await take(1, 0)).toMatchObject([{ attempts, body: { decision: {} }, decisionId: 'one' }]);
    expect((await take(2, 0)).map(({ attempts, body }) => [attempts, body])).toEqual([
      [4, null],
      [1, { message: 'approve' }],
    ]);
    const failed = (hasFailed: boolean) =>
      takePortalRequests(ledger.db, { namespace: 'default', limit: 9, leaseMs: 0, hasFailed });
    await submit((await openSession(ledger, portal)).session);
    expect((await failed(true)).map(({ attempts }) => attempts)).toEqual([5, 2]);
    expect((await failed(false)).map(({ attempts }) => attempts)).toEqual([1]);
  });

  test('for a report waits only for other reports', async () => {
    const { session } = await openSession(ledger, portal);
    for (const kind of ['report', 'decide', 'report', 'decide']) await submit(session, kind);
    expect((await take()).map(({ kind }) => kind)).toEqual(['report', 'decide']);
    expect(await take()).toEqual([]);
  });

  test('that could not be carried out is taken again after a pause, unless another worker has taken it since', async () => {
    const { session } = await openSession(ledger, portal);
    await submit(session);
    const [slow] = await take(1, 0);
    const [second] = await take();
    if (!slow || !second) throw new Error('nothing was taken');
    expect([slow.attempts, second.attempts]).toEqual([1, 2]);
    await postponePortalRequest(ledger.db, slow, 0);
    expect(await take()).toEqual([]);
    await postponePortalRequest(ledger.db, second, 60_000);
    expect(await take()).toEqual([]);
    await sql`update portal_requests set due_at = now()`.execute(ledger.db);
    expect(await take()).toMatchObject([{ attempts: 2 }]);
  });

  test('is not taken by the workers of another namespace, or before the workflow has started', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    await submit(session);
    await sql`update migrations set namespace = 'theirs' where id = ${migrationId}`.execute(ledger.db);
    expect(await take()).toEqual([]);
    await sql`update migrations set state = 'supplied' where id = ${migrationId}`.execute(ledger.db);
    expect(await take(100, 0, 'theirs')).toEqual([]);
    await sql`update migrations set state = 'closed' where id = ${migrationId}`.execute(ledger.db);
    expect(await take(100, 0, 'theirs')).toHaveLength(1);
  });

  test('is deleted when its invitation is revoked, even if a worker has taken it', async () => {
    const { invitation, session } = await openSession(ledger, portal);
    await submit(session);
    await submit(session);
    const [taken] = await take();
    await revokeInvitation(ledger.db, invitation, 'Sam');
    expect(await take(100, 0)).toEqual([]);
    expect(await answerPortalRequest(ledger.db, taken?.id ?? '', {})).toBe(false);
  });

  test('cannot slip in after a revocation in a transaction that began before it', async () => {
    const { invitation, session } = await openSession(ledger, portal);
    await portal.query('begin isolation level repeatable read');
    expect(await call(portal, 'session', session)).toHaveLength(1);
    await revokeInvitation(ledger.db, invitation, 'Sam');
    await expect(submit(session)).rejects.toThrow('could not serialize access');
    await portal.query('rollback');
    expect(await take()).toEqual([]);
  });

  test('of a viewer can only be for a report', async () => {
    const { session } = await openSession(ledger, portal, 'viewer');
    for (const kind of ['decide', 'credentials', 'application']) expect(await submit(session, kind)).toBe('refused');
    expect(await submit(session, 'report')).toBe('stored');
  });

  test('of an unknown kind or without a body is refused', async () => {
    const { session } = await openSession(ledger, portal);
    expect(await submit(session, 'import')).toBe('refused');
    expect(await valueOf(portal, 'submit', session, randomUUID(), null, '{}')).toBe('refused');
    expect(await valueOf(portal, 'submit', session, null, 'decide', '{}')).toBe('refused');
    expect(await valueOf(portal, 'submit', session, randomUUID(), 'decide', null)).toBe('refused');
  });
});

describe('an invitation can have', () => {
  test('32 open requests, however many are sent at once', async () => {
    const { session } = await openSession(ledger, portal);
    const { session: other } = await openSession(ledger, portal);
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectAsPortal(ledger)));
    const results = await Promise.all(
      clients.map(async (client) => {
        const outcomes: unknown[] = [];
        for (let each = 0; each < 8; each += 1)
          outcomes.push(await valueOf(client, 'submit', session, randomUUID(), 'decide', '{}'));
        await client.end();
        return outcomes;
      }),
    );
    const stored = results.flat().filter((outcome) => outcome === 'stored');
    expect(stored).toHaveLength(32);
    expect(await submit(other)).toBe('stored');
    const [oldest] = await take(1);
    await answerPortalRequest(ledger.db, oldest?.id ?? '', {});
    expect(await submit(session)).toBe('stored');
    expect(await submit(session)).toBe('refused');
  });

  test('32 MB of open requests', async () => {
    const { session } = await openSession(ledger, portal);
    const body = { text: 'x'.repeat(15 * 1024 * 1024) };
    expect(await submit(session, 'credentials', { text: 'x'.repeat(33 * 1024 * 1024) })).toBe('refused');
    expect(await submit(session, 'credentials', body)).toBe('stored');
    expect(await submit(session, 'credentials', body)).toBe('stored');
    expect(await submit(session, 'credentials', body)).toBe('refused');
  });

  test('5,000 requests a day, and the content of only the latest reports', async () => {
    const { migrationId, invitation, session } = await openSession(ledger, portal);
    await sql`
      insert into portal_requests (id, invitation_id, migration_id, kind, bytes, answer, answered_at)
      select gen_random_uuid(), ${invitation}, ${migrationId}, 'decide', 2, '{}', now() - interval '25 hours'
      from generate_series(1, 5000)`.execute(ledger.db);
    expect(await submit(session)).toBe('refused');
    await deleteOldPortalRequests(ledger.db);
    for (let each = 0; each < 6; each += 1) {
      const id = randomUUID();
      expect(await submit(session, 'report', { format: 'html' }, id)).toBe('stored');
      await answerPortalRequest(ledger.db, id, { outcome: 'done' });
    }
    const { rows } = await sql`select from portal_requests`.execute(ledger.db);
    expect(rows).toHaveLength(4);
    for (let each = 0; each < 4; each += 1) expect(await submit(session, 'report')).toBe('stored');
    expect(await submit(session, 'report')).toBe('refused');
  });
});

test('deletes requests that were answered a day ago, and sessions that ended a day ago', async () => {
  const { session } = await openSession(ledger, portal);
  const { session: ended } = await openSession(ledger, portal);
  const { session: live } = await openSession(ledger, portal);
  await submit(session);
  const [request] = await take();
  await answerPortalRequest(ledger.db, request?.id ?? '', {});
  await submit(live);
  await sql`update portal_requests set created_at = now() - interval '25 hours'`.execute(ledger.db);
  await sql`update portal_sessions set ended_at = now() where session_hash = ${ended}`.execute(ledger.db);
  const count = async () => {
    const { rows } = await sql<{ requests: number; sessions: number }>`
      select (select count(*) from portal_requests) as requests, (select count(*) from portal_sessions
        where session_hash = any(${[session, ended, live]}::bytea[])) as sessions`.execute(ledger.db);
    return rows[0];
  };
  await deleteOldPortalRequests(ledger.db);
  expect(await count()).toEqual({ requests: 2, sessions: 3 });
  await sql`update portal_requests set answered_at = now() - interval '25 hours' where answer is not null`.execute(
    ledger.db,
  );
  await sql`update portal_sessions set ended_at = now() - interval '25 hours' where ended_at is not null`.execute(
    ledger.db,
  );
  await sql`update portal_sessions set last_used_at = now() - interval '97 hours' where session_hash = ${session}`.execute(
    ledger.db,
  );
  await deleteOldPortalRequests(ledger.db);
  expect(await count()).toEqual({ requests: 1, sessions: 1 });
});
