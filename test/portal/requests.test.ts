/** Requests that workers answer, and the data about companies that the page reads. The test acts as the worker. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { Client } from 'pg';
import type { z } from 'zod';
import type { RequestAnswer, RequestStatusSchema } from '../../portal/contract/requests';
import type { CompaniesSchema } from '../../portal/contract/migration-view';
import { answerPortalRequest, recordDecisions, takePortalRequests, type PortalRequest } from '../../store';
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
  const answers = await Promise.all(
    ['requests', 'reports'].flatMap((kind) => [
      session.fetch(`/api/${kind}/${randomUUID()}`),
      ...[colleague, foreign].map((each) => each.fetch(`/api/${kind}/${body.id}`)),
      ...[colleague, foreign].map((each) => each.fetch(`/api/${kind}/${report.body.id}`)),
    ]),
  );
  const advice = 'Look at the migration to see whether the request was carried out.';
  for (const answer of answers)
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'No answer was found for this request.', advice },
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
  const statuses = (await Promise.all(posts)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(32);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
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
  expect(report.headers.get('content-disposition')).toBe('attachment; filename="report.html"');
  expect(report.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*; sandbox$/);
  expect(report.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const again = await post(session, '/api/reports', { format: 'html' });
  expect(again.body.id).not.toBe(body.id); // a new report, because the migration can have changed
  expect((await session.fetch(`/api/reports/${body.id}?format=exe`)).status).toBe(400);
});

describe('companies', () => {
  const read = async (session: Session, query = '') =>
    (await (await session.fetch(`/api/companies${query}`)).json()) as z.infer<typeof CompaniesSchema>;

  const change = (migrationId: string, row: number, set: object) =>
    portal.db
      .updateTable('companies')
      .set(set)
      .where('migration_id', '=', migrationId)
      .where('row', '=', row)
      .execute();

  test('are described with the states, problems and remedies of the ledger', async () => {
    const session = await signIn(portal);
    const { migrationId } = session;
    const link = 'https://service.example/link/1';
    await change(migrationId, 1, { state: 'moved', moved_at: new Date('2026-11-24T09:00:00Z') });
    await change(migrationId, 2, {
      ...{ state: 'failed', failure: 'reauthorization-required', failure_text: 'invalid_grant', link_url: link },
    });
    const { companies, hasMore } = await read(session);
    expect(hasMore).toBe(false);
    expect(companies).toMatchObject([
      { row: 1, reference: 'c1', state: 'moved', movedAt: '2026-11-24T09:00:00.000Z', problem: null, remedies: [] },
      {
        ...{ row: 2, state: 'must-reconnect', linkUrl: link, remedies: expect.arrayContaining(['relink']) as unknown },
        problem: 'must reconnect: the authorization no longer works (invalid_grant)',
      },
      {
        ...{ row: 3, state: 'not-moved-yet', confirmedAt: null, hasCredential: false, problem: null, linkUrl: null },
        accepts: ['credentialsSupplied'],
      },
    ]);
  });

  test('that were left out are described with the reason and what had gone wrong before', async () => {
    const session = await signIn(portal);
    const skipped = { state: 'skipped', left_out_by: 'Sam', left_out_reason: 'sold' };
    await change(session.migrationId, 1, {
      ...skipped,
      failure: 'reauthorization-required',
      failure_text: 'invalid_grant',
    });
    await change(session.migrationId, 2, { ...skipped, state: 'excluded' });
    const { companies } = await read(session);
    expect(companies.slice(0, 2).map(({ problem }) => problem)).toEqual([
      'sold; before that: must reconnect: the authorization no longer works (invalid_grant)',
      'sold',
    ]);
  });

  test('are read page by page, filtered and searched', async () => {
    const session = await signIn(portal);
    await change(session.migrationId, 2, { state: 'failed', failure: 'refused' });
    expect(await read(session, '?limit=2')).toMatchObject({ companies: [{ row: 1 }, { row: 2 }], hasMore: true });
    expect(await read(session, '?limit=2&after=2')).toMatchObject({ companies: [{ row: 3 }], hasMore: false });
    expect((await read(session, '?exceptions=true')).companies).toMatchObject([{ row: 2, state: 'not-moved' }]);
    expect((await read(session, '?state=not-moved-yet')).companies).toHaveLength(2);
    expect((await read(session, '?search=COMPANY%203')).companies).toMatchObject([{ row: 3 }]);
    await change(session.migrationId, 1, { name: 'Zürich 100%', stored_name: 'Zrich 100%' });
    for (const search of ['zurich', 'ZÜRICH 100%', 'zrich'])
      expect((await read(session, `?search=${encodeURIComponent(search)}`)).companies).toMatchObject([{ row: 1 }]);
    for (const query of ['?state=x', '?limit=0', '?limit=501', '?after=-1', '?unknown=1', '?exceptions=maybe'])
      expect([query, (await session.fetch(`/api/companies${query}`)).status]).toEqual([query, 400]);
  });

  test('whose link is not a web address are shown without it', async () => {
    const session = await signIn(portal);
    const failed = { state: 'failed', failure: 'reauthorization-required' };
    await change(session.migrationId, 1, { ...failed, link_url: 'javascript:alert(1)' });
    expect((await read(session)).companies[0]).toMatchObject({ state: 'must-reconnect', linkUrl: null });
  });

  test('that must reconnect can be downloaded as a spreadsheet file, which contains no formulas', async () => {
    const session = await signIn(portal);
    const failed = { state: 'failed', failure: 'reauthorization-required', link_url: 'https://service.example/1' };
    await change(session.migrationId, 1, { ...failed, name: '=HYPERLINK("https://evil.example")' });
    await change(session.migrationId, 2, { ...failed, name: 'Quote " and, comma' });
    const answer = await session.fetch('/api/reconnect-links.csv');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="reconnect-links.csv"');
    expect(parse(await answer.text(), { bom: true })).toEqual([
      ['reference', 'name', 'link'],
      ['c1', `'=HYPERLINK("https://evil.example")`, 'https://service.example/1'],
      ['c2', 'Quote " and, comma', 'https://service.example/1'],
    ]);
  });

  test('that lack a usable credential need attention once the other companies move', async () => {
    const session = await signIn(portal);
    await change(session.migrationId, 2, { confirmed_at: new Date() });
    const listed = async () => (await read(session, '?exceptions=true')).companies;
    expect(await listed()).toEqual([]);
    await portal.db
      .updateTable('migrations')
      .set({ state: 'open', released: 'all' })
      .where('id', '=', session.migrationId)
      .execute();
    expect(await listed()).toMatchObject([{ row: 2, problem: 'no credential supplied' }]);
  });

  test('that depend on a replaced application need attention, with their links', async () => {
    const session = await signIn(portal);
    const { migrationId } = session;
    const moved = (row: number) => ({
      ...{ state: 'moved', moved_at: new Date(), crossed_at: new Date(Date.now() - 60_000) },
      link_url: `https://service.example/${row}`,
    });
    await change(migrationId, 1, moved(1));
    await change(migrationId, 2, { ...moved(2), state: 'skipped', left_out_reason: 'sold' });
    await change(migrationId, 3, { state: 'failed', failure: 'wrong-organization', link_url: 'https://a.example' });
    await portal.db
      .updateTable('migrations')
      .set({ application: JSON.stringify({ clientId: 'old-app', environment: 'production' }) })
      .where('id', '=', migrationId)
      .execute();
    expect((await read(session, '?exceptions=true')).companies).toMatchObject([{ row: 3 }]);
    const decisionId = randomUUID();
    await recordDecisions(portal.db, migrationId, [
      {
        decision: {
          ...{ kind: 'application-supplied', decisionId, role: 'client', by: 'Cleo' },
          ...{ clientId: 'new-app', environment: 'production' },
        },
        outcome: { decisionId, applied: true, text: '', at: new Date().toISOString() },
      },
    ]);
    const { companies } = await read(session, '?exceptions=true');
    expect(companies).toMatchObject([
      { row: 1, state: 'moved', linkUrl: 'https://service.example/1', remedies: [] },
      { row: 2, state: 'left-out', linkUrl: 'https://service.example/2' },
      { row: 3, state: 'not-moved' },
    ]);
    expect(companies[2]?.problem).not.toContain('was replaced');
    expect(companies.slice(0, 2).map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^the application .* was replaced, .*; let the end customer reconnect with the link/),
      expect.stringMatching(/^sold; the application .* was replaced/),
    ]);
    const answer = await session.fetch('/api/reconnect-links.csv');
    expect(parse(await answer.text(), { bom: true, columns: true })).toMatchObject([
      { reference: 'c1', link: 'https://service.example/1' },
      { reference: 'c2', link: 'https://service.example/2' },
    ]);
    // A company that also needs something else says so first.
    const crossed = { failure: null, failure_text: null, crossed_at: new Date(Date.now() - 60_000), link_url: null };
    const withChanges = async (changes: Parameters<typeof change>[2]) => {
      await change(migrationId, 3, { ...crossed, ...changes });
      return (await read(session, '?exceptions=true')).companies.find(({ row }) => row === 3);
    };
    const wrong = await withChanges({ state: 'failed', failure: 'wrong-organization' });
    expect(wrong).toMatchObject({
      linkUrl: null,
      problem: expect.stringMatching(/organi.*; the application .* was re/) as string,
    });
    expect(wrong?.remedies).not.toContain('relink');
    expect(await withChanges({ state: 'waiting', failure_text: 'throttled', tries: 2 })).toMatchObject({
      problem: expect.stringMatching(/^throttled; the application .* was replaced/) as string,
    });
    expect(await withChanges({ state: 'failed', failure: 'reauthorization-required' })).toMatchObject({
      state: 'must-reconnect',
      problem: expect.not.stringContaining('was replaced') as string,
    });
    const link = 'https://service.example/3';
    expect(await withChanges({ state: 'failed', failure: 'incomplete', link_url: link })).toMatchObject({
      linkUrl: link,
      problem: expect.stringMatching(/; the application .* was replaced/) as string,
    });
    const links = await session.fetch('/api/reconnect-links.csv');
    expect(parse(await links.text(), { bom: true, columns: true })).toMatchObject([
      { reference: 'c1' },
      { reference: 'c2' },
      { reference: 'c3', link },
    ]);
    await change(migrationId, 1, { authorized_at: new Date(Date.now() + 60_000) });
    expect((await read(session, '?exceptions=true')).companies).not.toContainEqual(expect.objectContaining({ row: 1 }));
  });
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
