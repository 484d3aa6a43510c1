/** Requests that workers answer. The test acts as the worker. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { z } from 'zod';
import type { RequestAnswer, RequestStatusSchema } from '../../portal/contract/requests';
import { answerPortalRequest, takePortalRequests, type PortalRequest } from '../../store';
import { until } from '../support/async';
import { json, PUBLIC_KEY, signIn, usePortal, type Session } from './running-portal';

const portal = usePortal();

type Status = z.infer<typeof RequestStatusSchema>;

const decision = (changes: object = {}) => ({
  message: 'approve',
  decision: {
    ...{ decisionId: randomUUID(), role: 'client', by: 'Cleo', signedAt: '2026-11-24T09:00:00.000Z', step: 'start' },
    signature: { publicKey: PUBLIC_KEY, value: 'cd'.repeat(64) },
    ...changes,
  },
});

async function post(session: Session, path: string, body: unknown): Promise<{ status: number; body: Status }> {
  const answer = await session.fetch(path, json(body));
  return { status: answer.status, body: (await answer.json()) as Status };
}

/** Takes the open requests of a migration. */
async function take({ migrationId }: Session): Promise<readonly PortalRequest[]> {
  await portal.db.updateTable('migrations').set({ state: 'open' }).where('id', '=', migrationId).execute();
  const taken = await takePortalRequests(portal.db, { namespace: 'default', limit: 100, leaseMs: 0 });
  return taken.filter((each) => each.migrationId === migrationId);
}

async function answerNext(session: Session, answer: RequestAnswer): Promise<PortalRequest> {
  let next: PortalRequest | undefined;
  await until(async () => (next = (await take(session))[0]) !== undefined);
  if (!next) throw new Error('there is no request');
  await answerPortalRequest(portal.db, next.id, answer);
  return next;
}

test('a decision waits for the answer of a worker', async () => {
  const session = await signIn(portal);
  const body = decision();
  const [{ status, body: answered }, taken] = await Promise.all([
    post(session, '/api/decisions', body),
    answerNext(session, { outcome: 'applied', text: 'approved' }),
  ]);
  expect(taken).toMatchObject({ kind: 'decide', body, person: 'Cleo', role: 'client', publicKey: PUBLIC_KEY });
  const answer = { id: taken.id, answer: { outcome: 'applied', text: 'approved' } };
  if (status === 202) expect(await (await session.fetch(`/api/requests/${taken.id}`)).json()).toEqual(answer);
  else expect(answered).toEqual(answer);
});

test('a decision that no worker answers in time is accepted, and its answer can be read later', async () => {
  const session = await signIn(portal);
  const { status, body } = await post(session, '/api/decisions', decision());
  expect([status, body.answer]).toEqual([202, null]);
  await answerNext(session, { outcome: 'refused', text: 'too late' });
  const later = (await (await session.fetch(`/api/requests/${body.id}`)).json()) as Status;
  expect(later).toEqual({ id: body.id, answer: { outcome: 'refused', text: 'too late' } });
});

test('a request that does not exist, or is from another person or another migration, is not found', async () => {
  const session = await signIn(portal);
  const colleague = await signIn(portal, { migrationId: session.migrationId });
  const foreign = await signIn(portal);
  const { body } = await post(session, '/api/decisions', decision());
  const report = await post(session, '/api/reports', { format: 'html' });
  await until(async () => (await take(session)).length === 2);
  await answerPortalRequest(portal.db, body.id, { outcome: 'applied', text: 'approved' });
  await answerPortalRequest(portal.db, report.body.id, { outcome: 'done', text: 'ready', content: 'a report' });
  const noRequest = {
    error: 'No answer was found for this request.',
    advice: 'Look at the migration to see whether the request was carried out.',
  };
  const noReport = {
    error: 'This report is not available.',
    advice: 'A report is kept for a day at most. Create the report again.',
  };
  for (const [kind, missing] of [
    ['requests', noRequest],
    ['reports', noReport],
  ] as const) {
    const answers = await Promise.all([
      session.fetch(`/api/${kind}/${randomUUID()}`),
      ...[colleague, foreign].map((each) => each.fetch(`/api/${kind}/${body.id}`)),
      ...[colleague, foreign].map((each) => each.fetch(`/api/${kind}/${report.body.id}`)),
    ]);
    for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([404, missing]);
  }
});

test('a report that no worker has created yet is not ready', async () => {
  const session = await signIn(portal);
  const { body } = await post(session, '/api/reports', { format: 'html' });
  const answer = await session.fetch(`/api/reports/${body.id}`);
  expect([answer.status, await answer.json()]).toEqual([
    404,
    { error: 'This report is not ready yet.', advice: 'Try again in a few seconds.' },
  ]);
});

test('the same request is stored once, even if it is repeated, and its answer is kept', async () => {
  const session = await signIn(portal);
  const body = decision();
  const repeated = await Promise.all(Array.from({ length: 5 }, () => post(session, '/api/decisions', body)));
  expect(new Set(repeated.map((each) => each.body.id)).size).toBe(1);
  expect(await take(session)).toHaveLength(1);
  await answerNext(session, { outcome: 'applied', text: 'approved' });
  const again = await post(session, '/api/decisions', body);
  expect(again).toMatchObject({ status: 200, body: { answer: { outcome: 'applied' } } });
  expect(await take(session)).toHaveLength(0);
});

test('a request that could not be carried out is stored again when it is repeated', async () => {
  const session = await signIn(portal);
  const body = decision();
  const first = await post(session, '/api/decisions', body);
  await answerNext(session, { outcome: 'failed', text: 'Temporal cannot be reached' });
  const second = await post(session, '/api/decisions', body);
  expect([second.status, second.body.answer]).toEqual([202, null]);
  expect(second.body.id).not.toBe(first.body.id);
  await answerNext(session, { outcome: 'applied', text: 'approved' });
  expect((await post(session, '/api/decisions', body)).body.answer).toMatchObject({ outcome: 'applied' });
});

test('a person with too many open requests is told to wait', async () => {
  const session = await signIn(portal);
  const posts = Array.from({ length: 40 }, () => post(session, '/api/decisions', decision()));
  const answers = await Promise.all(posts);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(32);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  // The same error is returned for 5,000 stored requests, which are deleted after a day, so it names no time.
  expect(answers.find(({ status }) => status === 429)?.body).toEqual({
    error: 'You have sent too many requests.',
    advice: 'Try again in a few minutes. If this happens again, tell your contact.',
  });
  const other = await signIn(portal, { migrationId: session.migrationId });
  expect((await post(other, '/api/decisions', decision())).status).toBe(202);
});

test('sealed credentials reach the database as they were sent', async () => {
  const session = await signIn(portal);
  const credentials = Array.from({ length: 1_000 }, (_, row) => ({
    ...{ reference: `C-${row}`, obtainedAt: '2026-11-24T09:00:00.000Z' },
    sealed: Buffer.alloc(1_500, row).toString('base64'),
  }));
  const body = { decisionId: randomUUID(), replaces: false, keyFingerprint: 'abcd', credentials };
  const { status } = await post(session, '/api/credentials', body);
  expect(status).toBe(202);
  const [taken] = await take(session);
  expect(taken).toMatchObject({ kind: 'credentials', body });
});

test('a report is downloaded with its own content security policy', async () => {
  const session = await signIn(portal, { role: 'viewer' });
  const { body } = await post(session, '/api/reports', { format: 'html' });
  expect((await session.fetch(`/api/reports/${body.id}`)).status).toBe(404);
  const content = '<!doctype html><script>alert(1)</script>';
  await answerNext(session, { outcome: 'done', text: 'ready', content });
  const status = (await (await session.fetch(`/api/requests/${body.id}`)).json()) as Status;
  expect(status.answer).toEqual({ outcome: 'done', text: 'ready' });
  const report = await session.fetch(`/api/reports/${body.id}?format=html`);
  expect(await report.text()).toBe(content);
  expect(report.headers.get('content-disposition')).toBe(`attachment; filename="${session.migrationId}-handover.html"`);
  const opened = await session.fetch(`/api/reports/${body.id}?format=markdown&open=true`);
  expect(opened.headers.get('content-disposition')).toBe(`inline; filename="${session.migrationId}-handover.md"`);
  expect(report.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*; sandbox$/);
  expect(report.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const again = await post(session, '/api/reports', { format: 'html' });
  expect(again.body.id).not.toBe(body.id); // a new report, because the migration can have changed
  expect((await session.fetch(`/api/reports/${body.id}?format=exe`)).status).toBe(400);
});

test("the portal's database role can read no table, and without a session no data", async () => {
  await signIn(portal);
  const client = new Client({ connectionString: portal.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { name } of rows) await expect(client.query(`select from ${name}`)).rejects.toThrow(/permission denied/);
    const without = Buffer.alloc(32);
    for (const call of ['session($1)', 'view($1)', 'companies($1, null, false, null, 0, 500)']) {
      const { rows: found } = await client.query(`select * from tokenferry_portal.${call}`, [without]);
      expect([call, found]).toEqual([call, []]);
    }
  } finally {
    await client.end();
  }
});

test('a request is stored even if the person leaves before it is answered', async () => {
  const session = await signIn(portal);
  const abort = new AbortController();
  const sent = session.fetch('/api/decisions', { ...json(decision()), signal: abort.signal }).catch(() => undefined);
  await delay(100);
  abort.abort();
  await sent;
  expect(await take(session)).toHaveLength(1);
});
