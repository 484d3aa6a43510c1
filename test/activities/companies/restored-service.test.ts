/**
 * A service that was restored to an older state has lost companies. No company gets stuck, and no token is used twice.
 */
import { randomUUID } from 'node:crypto';
import { retryCompanies, retryWithNewCredential, stageCredentials, stopClaims, acceptStaged } from '../../../store';
import { Secret } from '../../../security';
import { dropped, failing } from '../../company-data-client/misbehaving-service';
import { useImportRig, statusAtService } from '../../support/migrations/company-import';
import type { Interceptor } from '../../support/faults/http-proxy';
import { readRow, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const SINGLE_USE = 'vxvy';
const XERO = 'gbol';
const CONNECTION = /\/connections$/;
const AUTHORIZATION = /\/authorization$/;
const puts = () => rig.proxy.arrived('PUT', AUTHORIZATION).length;
const rowOf = (id: string) => readRow(rig.ledger.db, id, 1);
const atService = (id: string) => statusAtService(rig.directClient, id, 1);
const LOST = {
  state: 'failed',
  failure: 'credential-unreadable',
  company_id: null,
  connection_id: null,
  link_url: null,
};

async function migration(platformKey = SINGLE_USE): Promise<string> {
  return (await rig.migration(['sbx-ok-5'], { platformKey })).id;
}

/** Returns a migration of a company whose id the client supplied. */
async function migrationOfExisting() {
  const company = { name: 'Here before' };
  const { value } = await rig.directClient.createCompany(company, { idempotencyKey: randomUUID() });
  const existing = { companyId: value.id, connectionId: null };
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: XERO, row: () => ({ existing }) });
  return { id, companyId: value.id };
}

/** Deletes the company of the row, as if the service's backup were older than the company. */
async function loseCompany(id: string): Promise<void> {
  for await (const company of rig.directClient.companies({ tags: { ferryRow: `${id}/1` } }))
    await rig.directClient.deleteCompany(company.id);
}

/** Loses the company before the service gets the request. */
const losing =
  (id: string): Interceptor =>
  async (response, _request, pass) => {
    await loseCompany(id);
    const { status, headers, body } = await pass();
    response.writeHead(status, headers).end(body);
  };

async function tryAgain(id: string) {
  rig.proxy.reset();
  await rig.expireLeases(id);
  await updateRow(rig.ledger.db, id, 1, { not_before: null });
  await rig.importSlice(id);
  return rowOf(id);
}

test.each<[string, string, RegExp, Interceptor]>([
  ['before its connection was created', 'POST', CONNECTION, failing(429, 'later')],
  ['before its credential was sent', 'PUT', AUTHORIZATION, failing(429, 'later')],
])('a company that was lost %s is created again', async (_, method, path, interference) => {
  const id = await migration();
  rig.proxy.on(method, path, interference);
  await rig.importSlice(id);
  const before = await rowOf(id);
  expect(before).toMatchObject({ state: 'waiting', company_id: expect.any(String) as string });
  await loseCompany(id);
  const after = await tryAgain(id);
  expect(after).toMatchObject({ state: 'syncing', failure: null });
  expect(after.company_id).not.toBe(before.company_id);
  expect(await atService(id)).toEqual(['company with Linked']);
  expect(puts()).toBe(1);
});

test('a company that is lost during its import is created again', async () => {
  const id = await migration();
  const lose = losing(id);
  rig.proxy.on('POST', CONNECTION, [lose, lose]);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'waiting', failure: null });
  expect(await tryAgain(id)).toMatchObject({ state: 'syncing' });
  expect(await atService(id)).toEqual(['company with Linked']);
});

test('a company that is lost while its credential is sent fails, and is not created again', async () => {
  const id = await migration();
  rig.proxy.on('PUT', AUTHORIZATION, [losing(id)]);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject(LOST);
  expect(await atService(id)).toEqual([]);
});

test('a lost company whose credential was possibly used gets a link, or moves with a new credential', async () => {
  const id = await migration();
  const { db } = rig.ledger;
  rig.proxy.on('PUT', AUTHORIZATION, dropped);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'importing', company_id: expect.any(String) as string });
  await loseCompany(id);
  expect(await tryAgain(id)).toMatchObject(LOST);
  expect(puts()).toBe(0);

  for (let tries = 0; tries < 2; tries += 1) {
    await retryCompanies(db, id, 'all');
    expect(await tryAgain(id)).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
    expect((await rowOf(id)).link_url).not.toBeNull();
    expect(puts()).toBe(0);
  }

  const { reference, organization } = await rowOf(id);
  const fields = {
    accessToken: 'a',
    refreshToken: `sbx-ok-5.new.${organization}`,
    accountId: 'a',
    businessId: organization,
  };
  const credential = { reference, fields: new Secret(fields), obtainedAt: new Date().toISOString() };
  const staged = { decisionId: randomUUID(), replaces: true };
  await stageCredentials(db, id, [credential], 'Cleo', staged);
  await acceptStaged(db, id, staged);
  await loseCompany(id);
  await retryWithNewCredential(db, id, [reference]);
  expect(await tryAgain(id)).toMatchObject({ state: 'syncing' });
  expect(await atService(id)).toEqual(['company with Linked']);
  expect(puts()).toBe(1);
});

test('a credential that was sent is not sent to a new connection if the ledger does not know the old ids', async () => {
  const id = await migration();
  rig.dieAfter(id, 'PUT', AUTHORIZATION);
  // Waits longer than a busy service takes, because the attempt must not give up before it dies.
  const patient = rig.client(rig.proxy.url, { authorizationTimeoutMs: 60_000 });
  await rig.importSlice(id, { worker: rig.worker({ service: patient }) }).catch(() => undefined);
  expect(await rowOf(id)).toMatchObject({ state: 'importing', company_id: null });
  await loseCompany(id);
  expect(await tryAgain(id)).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
  expect(puts()).toBe(0);
});

test('an interrupted check of the loss is repeated, and does not fail the company', async () => {
  const id = await migration();
  rig.proxy.on('POST', CONNECTION, failing(429, 'later'));
  await rig.importSlice(id);
  rig.proxy.on('GET', /^\/companies\/[^/]+$/, failing(500, 'oops'));
  rig.proxy.on('GET', CONNECTION, failing(404, 'no such company'));
  await updateRow(rig.ledger.db, id, 1, { not_before: null });
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'waiting', failure: null });
});

test('a lost company does not keep an ended migration from being closed', async () => {
  const id = await migration();
  rig.proxy.on('PUT', AUTHORIZATION, dropped);
  await rig.importSlice(id);
  await loseCompany(id);
  await rig.expireLeases(id);
  await stopClaims(rig.ledger.db, id);
  await rig.runActivity((activities) => activities.resolveInterrupted({ migrationId: id }));
  // It is unknown whether the token was used, so the client must ask support before it uses the token
  // (domain/companies/reactivation.ts).
  expect(await rowOf(id)).toMatchObject({ state: 'waiting', authorization_sent_at: expect.any(Date) as Date });
});

test('a lost company whose id the client supplied fails and keeps its ids', async () => {
  const { id, companyId } = await migrationOfExisting();
  await rig.directClient.deleteCompany(companyId);
  await rig.importSlice(id);
  const row = await rowOf(id);
  expect(row).toMatchObject({ state: 'failed', failure: 'refused', company_id: companyId });
  expect(row.failure_text).toContain('404');
});

describe('a syncing company that was lost', () => {
  test('needs a new credential, and its ids are cleared', async () => {
    const id = await migration();
    await rig.importSlice(id);
    await loseCompany(id);
    await rig.verify(id);
    expect(await rowOf(id)).toMatchObject(LOST);
  });

  test('is checked again if the service does not say whether it has the company', async () => {
    const id = await migration();
    await rig.importSlice(id);
    await loseCompany(id);
    rig.proxy.on('GET', /^\/companies\/[^/]+$/, failing(500, 'oops'));
    await rig.checkDue(id, 60_000);
    expect(await rowOf(id)).toMatchObject({ state: 'syncing' });
  });

  test('keeps its ids if the client supplied them', async () => {
    const { id, companyId } = await migrationOfExisting();
    await rig.importSlice(id);
    await rig.directClient.deleteCompany(companyId);
    await rig.verify(id);
    expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'refused', company_id: companyId });
  });
});
