/**
 * Tests who may use which route. Most tests read the routes from the OpenAPI document, so that a new route is tested
 * too.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { PortalDatabase } from '../../portal/server/database';
import { answerPortalRequest, revokeInvitation, writePortalView } from '../../store';
import { sampleView } from './page/sample-view';
import { createMigration, json, PUBLIC_KEY, signIn, usePortal, type Session } from './running-portal';

const portal = usePortal();

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly role: 'everyone' | 'session' | 'client';
}

async function operations(): Promise<readonly Operation[]> {
  const answer = await fetch(`${portal.url}/api/openapi.json`);
  const { paths } = (await answer.json()) as {
    readonly paths: Record<string, Record<string, { readonly 'x-role': Operation['role'] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path, role: operation['x-role'] },
    })),
  );
}

const protectedOperations = async () => (await operations()).filter(({ role }) => role !== 'everyone');

const NO_ID = '00000000-0000-4000-8000-000000000000';
const addressOf = ({ path }: Operation, id = NO_ID): string => path.replace('{id}', id);

/** Calls every operation that needs a session, and returns the status of each. */
async function statuses(headers: Record<string, string>): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const operation of await protectedOperations()) {
    const { method } = operation;
    const init = { method, headers: { ...headers, 'x-tokenferry-portal': '1', origin: portal.url } };
    const answer = await fetch(portal.url + addressOf(operation), init);
    found[`${method} ${operation.path}`] = answer.status;
    expect(await answer.text()).not.toMatch(/company|Company|stack|client-\d/);
  }
  return found;
}

async function allWith(status: number): Promise<Record<string, number>> {
  return Object.fromEntries((await protectedOperations()).map(({ method, path }) => [`${method} ${path}`, status]));
}

const bearer = ({ token }: Session) => ({ authorization: `Bearer ${token}` });
const cookie = ({ token }: Session) => ({ cookie: `__Host-tokenferry=${token}` });

test('only the listed routes need no session', async () => {
  const open = (await operations())
    .filter(({ role }) => role === 'everyone')
    .map((each) => `${each.method} ${each.path}`);
  expect(open.sort()).toEqual([
    ...['GET /api/docs', 'GET /api/openapi.json', 'GET /health', 'POST /api/session', 'POST /api/session/identity'],
    ...['POST /api/session/identity/answer', 'POST /api/session/renewal'],
  ]);
  expect((await protectedOperations()).length).toBeGreaterThan(10);
});

test('the OpenAPI document describes every answer', async () => {
  const answer = await fetch(`${portal.url}/api/openapi.json`);
  const { paths } = (await answer.json()) as {
    readonly paths: Record<
      string,
      Record<string, { readonly responses: Record<string, { readonly description: string }> }>
    >;
  };
  const descriptions = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.values(responses).map(({ description }) => description));
  expect(descriptions.length).toBeGreaterThan(50);
  expect(descriptions.filter((text) => /^(Default Response|Success|)$/.test(text))).toEqual([]);
});

test.each([
  ['get', '/api/requests/{id}', '404', /has not sent such a request/],
  ['post', '/api/session/identity', '404', /The portal has no identity provider/],
  ['post', '/api/session/identity/answer', '404', /The portal has no identity provider/],
  ['get', '/api/reports/{id}', '404', /no such report/],
  ['post', '/api/decisions', '403', /the session does not have the role client. `error` says what is refused/],
  ['post', '/api/reports', '403', /The request is refused/],
  ['delete', '/api/session', '403', /The request is refused/],
])(
  'the OpenAPI document keeps the description that a route gives an error: %s %s',
  async (method, path, status, text) => {
    const answer = await fetch(`${portal.url}/api/openapi.json`);
    expect(await answer.json()).toHaveProperty(['paths', path, method, 'responses', status], {
      description: expect.stringMatching(text) as string,
      content: { 'application/json': { schema: expect.objectContaining({ type: 'object' }) as object } },
    });
  },
);

test.each<[string, () => Promise<Record<string, string>>]>([
  ['no session', async () => ({})],
  ['an invented token', async () => ({ authorization: `Bearer ${'A'.repeat(43)}` })],
  ['an invented cookie', async () => ({ cookie: `__Host-tokenferry=${'A'.repeat(43)}` })],
  ['an invalid token', async () => ({ authorization: "Bearer ' or 1=1 --" })],
  ['a cookie of the wrong name', async () => ({ cookie: `tokenferry=${(await signIn(portal)).token}` })],
  [
    'two cookies',
    async () => ({ cookie: `__Host-tokenferry=${(await signIn(portal)).token}; __Host-tokenferry=${'A'.repeat(43)}` }),
  ],
])('every route refuses a request with %s', async (_, headersOf) => {
  expect(await statuses(await headersOf())).toEqual(await allWith(401));
});

test.each<[string, (session: Session) => Promise<unknown>]>([
  ['signed out', (session) => session.fetch('/api/session', { method: 'DELETE' })],
  [
    'expired',
    ({ invitationId: id }) =>
      sql`update portal_sessions set expires_at = now() where invitation_id = ${id}`.execute(portal.db),
  ],
  [
    'not been used for three days',
    ({ invitationId: id }) =>
      sql`update portal_sessions set last_used_at = now() - interval '3 days' where invitation_id = ${id}`.execute(
        portal.db,
      ),
  ],
  ['been revoked', ({ invitationId }) => revokeInvitation(portal.db, invitationId, 'Sam')],
])('every route refuses a session that has %s', async (_, end) => {
  const session = await signIn(portal);
  expect((await session.fetch('/api/session')).status).toBe(200);
  await end(session);
  expect(await statuses(bearer(session))).toEqual(await allWith(401));
  expect(await statuses(cookie(session))).toEqual(await allWith(401));
});

describe('a session that ends during a request', () => {
  afterEach(() => jest.restoreAllMocks());

  /** Revokes the invitation of a session immediately after the next call of the method `name`. */
  function revokeAfter(name: 'session' | 'submit', { invitationId }: Session): void {
    const original = PortalDatabase.prototype[name] as (...args: unknown[]) => Promise<unknown>;
    jest.spyOn(PortalDatabase.prototype, name).mockImplementationOnce(async function (this: PortalDatabase, ...args) {
      const found = await original.apply(this, args);
      await revokeInvitation(portal.db, invitationId, 'Sam');
      return found as never;
    });
  }

  const signed = {
    ...{ decisionId: randomUUID(), role: 'client', by: 'Cleo', signedAt: '2026-11-24T09:00:00.000Z' },
    signature: { publicKey: PUBLIC_KEY, value: 'cd'.repeat(64) },
  };
  const report = json({ format: 'html' });
  const decision = json({ message: 'approve', decision: signed });

  test.each<['session' | 'submit', string, RequestInit]>([
    ['session', '/api/migration', {}],
    ['session', '/api/companies', {}],
    ['session', '/api/reconnect-links.csv', {}],
    ['session', `/api/requests/${NO_ID}`, {}],
    ['session', `/api/reports/${NO_ID}`, {}],
    ['session', '/api/decisions', decision],
    ['session', '/api/reports', report],
    ['submit', '/api/decisions', decision],
    ['submit', '/api/reports', report],
  ])('gets only 401 as an answer: after %s, %s', async (name, path, init) => {
    const session = await signIn(portal);
    revokeAfter(name, session);
    const answer = await session.fetch(path, init);
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: 'You are not signed in.', advice: expect.any(String) as string },
    ]);
  });
});

test('every route for clients refuses a viewer, before it reads the body', async () => {
  const viewer = await signIn(portal, { role: 'viewer' });
  const forClients = (await operations()).filter(({ role }) => role === 'client');
  expect(forClients.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/api/decisions', '/api/credentials', '/api/application']),
  );
  for (const operation of forClients) {
    const answer = await viewer.fetch(addressOf(operation), { method: operation.method });
    expect([operation.path, answer.status]).toEqual([operation.path, 403]);
    expect(await answer.json()).toEqual({
      error: expect.stringMatching(/read-only/) as string,
      advice: expect.any(String) as string,
    });
  }
});

test('a session reads nothing of another migration', async () => {
  const SECRET = 'marker-of-the-other-migration';
  const theirs = await signIn(portal);
  await portal.db
    .updateTable('companies')
    .set({
      name: SECRET,
      state: 'failed',
      failure: 'reauthorization-required',
      link_url: `https://x.example/${SECRET}`,
    })
    .where('migration_id', '=', theirs.migrationId)
    .execute();
  await writePortalView(portal.db, theirs.migrationId, sampleView({ headline: SECRET }));
  const requested = await theirs.fetch('/api/reports', {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"format":"html"}' },
  });
  const { id } = (await requested.json()) as { readonly id: string };
  await answerPortalRequest(portal.db, id, { outcome: 'done', text: SECRET, content: SECRET });
  const mine = await signIn(portal, { migrationId: await createMigration(portal.db) });

  const reads = (await protectedOperations()).filter(({ method, path }) => method === 'GET' && path !== '/api/events');
  for (const operation of reads) {
    const found = await (await theirs.fetch(addressOf(operation, id))).text();
    const notFound = await (await mine.fetch(addressOf(operation, id))).text();
    if (operation.path !== '/api/session')
      expect([operation.path, found]).toEqual([operation.path, expect.stringContaining(SECRET)]);
    expect([operation.path, notFound]).toEqual([operation.path, expect.not.stringContaining(SECRET)]);
  }
});

test('a person cannot read a report that another person of the same migration has requested', async () => {
  const cleo = await signIn(portal);
  const requested = await cleo.fetch('/api/reports', {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"format":"html"}' },
  });
  const { id } = (await requested.json()) as { readonly id: string };
  await answerPortalRequest(portal.db, id, { outcome: 'done', text: 'ready', content: 'the report' });
  const other = await signIn(portal, { migrationId: cleo.migrationId });
  expect((await cleo.fetch(`/api/reports/${id}`)).status).toBe(200);
  const missing = await other.fetch(`/api/reports/${id}`);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({
    error: 'This report is not available.',
    advice: expect.stringContaining('Create the report again') as string,
  });
});

test("a viewer's key is not registered", async () => {
  const viewer = await signIn(portal, { role: 'viewer' });
  expect(await (await viewer.fetch('/api/session')).json()).toMatchObject({ role: 'viewer', publicKey: null });
  const client = await signIn(portal);
  expect(await (await client.fetch('/api/session')).json()).toMatchObject({ role: 'client', publicKey: PUBLIC_KEY });
});
