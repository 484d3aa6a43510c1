/**
 * A lost response to the authorization: it is unknown whether the credential was used, so the next attempt reads the
 * connection before it does anything else.
 */
import { randomUUID } from 'node:crypto';
import { dropped, failing, json, neverAnswered } from '../../company-data-client/misbehaving-service';
import { statusAtService, useImportRig } from '../../support/migrations/company-import';
import { loseAnswer, sendAnswer, type Interceptor } from '../../support/faults/http-proxy';
import { MAX_AUTHORIZATIONS } from '../../../store';
import { Secret } from '../../../security';
import { readRow, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const AUTHORIZATION = /\/authorization$/;
const SYNC = /\/data\/all$/;
const SINGLE_USE = 'vxvy';
const puts = () => rig.proxy.arrived('PUT', AUTHORIZATION).length;
const rowOf = (id: string) => readRow(rig.ledger.db, id, 1);

/** Runs a slice whose authorization is intercepted, and then a slice that reads the connection. */
async function afterLosing(token: string, interference: Interceptor, platformKey = 'qhyg') {
  const { id } = await rig.migration([token], { platformKey });
  rig.proxy.on('PUT', AUTHORIZATION, [interference]);
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 1, stop: null });
  expect((await rowOf(id)).state).toBe('importing');
  const report = await rig.importSlice(id);
  expect(puts()).toBe(1);
  return { id, report, row: await rowOf(id) };
}

/** Loses an authorization before it reaches the service. Then ends the lease, and runs another slice. */
async function afterNothingArrived(token: string, interference: Interceptor, platformKey = 'qhyg') {
  const { id, report: beforeLeaseEnd, row } = await afterLosing(token, interference, platformKey);
  expect(row).toMatchObject({ state: 'importing', failure_text: 'the authorization request got no clear answer' });
  expect(beforeLeaseEnd.nextReclaimInMs).toBeGreaterThan(0);
  const { lease_ends_at: leaseEndsAt } = row;
  // Reading the connection again does not extend the lease.
  await rig.importSlice(id);
  expect((await rowOf(id)).lease_ends_at).toEqual(leaseEndsAt);
  expect(puts()).toBe(1);
  await rig.expireLeases(id);
  const report = await rig.importSlice(id);
  return { id, report, row: await rowOf(id) };
}

test.each([
  ['a token that changes daily', 'qhyg'],
  ['a single-use token', SINGLE_USE],
])('a company that the service has linked is synced, and %s is not sent again', async (_, platformKey) => {
  const { id, row } = await afterLosing('sbx-ok-5', loseAnswer, platformKey);
  expect(row).toMatchObject({ state: 'syncing', tries: 2 });
  expect(puts()).toBe(1);
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
});

test('a company whose grant the platform has refused must reconnect, and the link is stored', async () => {
  const { row } = await afterLosing('sbx-revoked', loseAnswer);
  expect(row).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
  expect(row.link_url).toMatch(/^http/);
  expect(puts()).toBe(1);
});

test("a company stays waiting, with the reason, if the platform has refused the client's application", async () => {
  const { row } = await afterLosing('sbx-other-application', loseAnswer);
  expect(row).toMatchObject({ state: 'waiting', failure: 'application-refused' });
});

const OUTCOME_UNKNOWN: readonly [string, Interceptor][] = [
  ['a dropped connection', dropped],
  ['a time-out', neverAnswered],
  ['a 500', failing(500, 'oops')],
  ['a 503', failing(503, 'maintenance')],
  ['a success that cannot be read', json(200, { nothing: 'known' })],
];

test.each(OUTCOME_UNKNOWN)('a reusable token is sent again after %s', async (_, lost) => {
  const { id, row } = await afterNothingArrived('sbx-ok-5', lost);
  expect(row.state).toBe('syncing');
  expect(puts()).toBe(2);
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
});

test.each(OUTCOME_UNKNOWN)('a single-use token is sent to the same connection once more after %s', async (_, lost) => {
  const { id, row } = await afterNothingArrived('sbx-ok-5', lost, SINGLE_USE);
  expect(row.state).toBe('syncing');
  const sent = rig.proxy.arrived('PUT', AUTHORIZATION).map(({ url, body }) => url + body);
  expect(sent).toHaveLength(2);
  expect(new Set(sent).size).toBe(1);
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
});

test('a single-use token is sent until the fifth authorization arrives', async () => {
  const { id } = await afterLosing('sbx-ok-5', dropped, SINGLE_USE);
  rig.proxy.on('PUT', AUTHORIZATION, [dropped, dropped, dropped]);
  for (let sent = 2; sent <= MAX_AUTHORIZATIONS; sent += 1) {
    expect((await rowOf(id)).state).toBe('importing');
    await rig.expireLeases(id);
    await rig.importSlice(id);
    expect(puts()).toBe(sent);
  }
  expect((await rowOf(id)).state).toBe('syncing');
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
});

test.each(OUTCOME_UNKNOWN)(
  'a company with a single-use token is left to support after %s, five times',
  async (_, lost) => {
    const { id } = await afterLosing('sbx-ok-5', lost, SINGLE_USE);
    await updateRow(rig.ledger.db, id, 1, { authorizations_sent: MAX_AUTHORIZATIONS - 1 });
    rig.proxy.on('PUT', AUTHORIZATION, [lost]);
    await rig.expireLeases(id);
    await rig.importSlice(id);
    expect((await rowOf(id)).state).toBe('importing');
    expect(puts()).toBe(2);
    await rig.expireLeases(id);
    const report = await rig.importSlice(id);
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'outcome-unknown', failure: null });
    expect(row.failure_text).toContain('5 authorization requests got no clear answer, and a token of this platform');
    expect(report).toMatchObject({ stop: null, nextClaimInMs: null, nextReclaimInMs: null });
    expect(puts()).toBe(2);
  },
);

test('authorizations that were refused before they took effect are not counted', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
  const busy = failing(429, 'busy', { 'retry-after': '0' });
  rig.proxy.on('PUT', AUTHORIZATION, [busy, busy, busy, dropped]);
  await rig.importSlice(id, { worker: rig.worker({ service: rig.client(rig.proxy.url, { retryBudgetMs: 5_000 }) }) });
  expect(puts()).toBe(4);
  expect(await rowOf(id)).toMatchObject({ state: 'importing', authorizations_sent: 1 });
  await rig.expireLeases(id);
  rig.proxy.on('PUT', AUTHORIZATION, [dropped]);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'importing', authorizations_sent: 2 });
});

test('a token is never sent to another connection of its company, even if the attempt dies', async () => {
  const key = () => ({ idempotencyKey: randomUUID() });
  const { value: company } = await rig.directClient.createCompany({ name: 'Here before' }, key());
  const { value: older } = await rig.directClient.createConnection(company.id, 'qhyg', key());
  const fields = { accessToken: 'a', refreshToken: `sbx-ok-1.${randomUUID()}`, realmId: 'another organization' };
  await rig.directClient.putAuthorization(company.id, older.id, new Secret(fields));
  const existing = { companyId: company.id, connectionId: null };
  const { id } = await rig.migration(['sbx-ok-5'], { row: () => ({ existing }) });

  rig.dieAfter(id, 'PUT', AUTHORIZATION);
  await rig.importSlice(id).catch(() => undefined);
  // The older connection comes first in the list. The import did not use it, because it was linked to another
  // organization.
  await rig.directClient.unlinkConnection(company.id, older.id);
  await rig.expireLeases(id);
  await rig.importSlice(id);
  const { state, connection_id: connectionId } = await rowOf(id);
  expect(state).toBe('syncing');
  expect(connectionId).not.toBe(older.id);
  expect(puts()).toBe(1);
});

test('polling for a lost answer does not make a later retry wait longer', async () => {
  const { id } = await afterLosing('sbx-unavailable-1-ok-5', dropped);
  for (let poll = 1; poll < 12; poll += 1) await rig.importSlice(id);
  expect((await rowOf(id)).tries).toBeGreaterThan(12);
  await rig.expireLeases(id);
  const longest = jest.spyOn(Math, 'random').mockReturnValue(0.99);
  try {
    await rig.importSlice(id);
  } finally {
    longest.mockRestore();
  }
  const { state, failure_text: failureText, not_before: notBefore } = await rowOf(id);
  expect({ state, failureText }).toEqual({ state: 'waiting', failureText: 'The platform is unavailable.' });
  expect((notBefore?.getTime() ?? 0) - Date.now()).toBeLessThan(10_000);
});

test('no token is sent after its deadline', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  await rig.importSlice(id, { worker: rig.worker({ sendWithinMs: 0 }) });
  expect(puts()).toBe(0);
  expect((await rowOf(id)).state).toBe('waiting');
});

test('a linked company whose syncs do not start is read again, and its token is not sent again', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
  rig.proxy.on('POST', SYNC, [failing(409, 'no linked connection')]);
  await rig.importSlice(id);
  expect((await rowOf(id)).state).toBe('importing');
  await rig.importSlice(id);
  expect((await rowOf(id)).state).toBe('syncing');
  expect(puts()).toBe(1);
});

test.each<[string, Interceptor]>([
  ['an outage', failing(503, 'Maintenance')],
  ['a refused key', failing(401, 'unknown key')],
])(
  '%s after a lost response keeps the send intent, so that a single-use token is sent only once more',
  async (_, failure) => {
    const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
    rig.proxy.on('PUT', AUTHORIZATION, [failing(503, 'Maintenance')]);
    await rig.importSlice(id);
    rig.proxy.on('GET', /^\/companies/, failure);
    await rig.expireLeases(id);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1 });
    expect((await rowOf(id)).state).toBe('importing');

    rig.proxy.on('GET', /^\/companies/, async (response, _request, pass) => sendAnswer(response, await pass()));
    await rig.expireLeases(id);
    await rig.importSlice(id);
    expect((await rowOf(id)).state).toBe('syncing');
    expect(puts()).toBe(2);
  },
);
