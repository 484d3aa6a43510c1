/** An accepted credential is never sent again, but its replacement is sent. */
import { retryWithNewCredential, stopClaims, supplyCredentials, retryCompanies } from '../../../store';
import { Secret } from '../../../security';
import { statusAtService, useImportRig } from '../../support/migrations/company-import';
import type { Interceptor } from '../../support/faults/http-proxy';
import { replaceCredentials, updateRow, readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const SINGLE_USE = 'vxvy';
/** A platform whose authorization contains no organization, so that the service cannot detect a wrong organization. */
const WITHOUT_ORGANIZATION = 'fbrh';
const rowOf = (id: string) => readRow(rig.ledger.db, id, 1);
const puts = () => rig.proxy.arrived('PUT', /\/authorization$/).length;

/**
 * Sends no response, and makes another attempt the owner of the row, so that the current attempt can write nothing.
 */
const dyingAttempt =
  (id: string): Interceptor =>
  async (response) => {
    await updateRow(rig.ledger.db, id, 1, { attempt: 'died' });
    response.destroy();
  };

async function replaceCredential(id: string, fields: Record<string, string>): Promise<void> {
  const one = { reference: 'c1', fields: new Secret(fields), obtainedAt: new Date().toISOString() };
  const { db } = rig.ledger;
  const replaces = (await rowOf(id)).state === 'failed';
  const store = replaces ? replaceCredentials : supplyCredentials;
  expect(await store(db, id, [one], 'Cleo')).toMatchObject({ stored: ['c1'], wrongState: [] });
  await retryWithNewCredential(db, id, ['c1']);
}

test('an accepted credential is never sent again, even if its company was not moved', async () => {
  const { id } = await rig.migration(['sbx-expires-during-sync-5']);
  await rig.importSlice(id);
  await rig.verify(id);
  expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
  expect(puts()).toBe(1);

  // A retry leaves out a company whose accepted grant has ended, unless it is the first company, as c1 is here.
  await retryCompanies(rig.ledger.db, id, 'all', 'c1');
  await rig.importSlice(id);
  const row = await rowOf(id);
  expect(row).toMatchObject({ state: 'failed', failure: 'reauthorization-required', tries: 2 });
  // The reason of the service is kept, because it says why the end customer must reconnect.
  expect(row.failure_text).toMatch(/The grant has expired; .*never sent again/);
  expect(row.link_url).toMatch(/^http/);
  expect(puts()).toBe(1);
});

test('a replacement credential is sent, even if the first attempt dies before sending it', async () => {
  const { id } = await rig.migration(['sbx-revoked'], { platformKey: SINGLE_USE });
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
  const { organization } = await rowOf(id);
  const fields = { accessToken: 'a', refreshToken: 'sbx-ok-5.new', accountId: 'a', businessId: organization };
  await replaceCredential(id, fields);
  rig.proxy.on('GET', /\/connections/, [dyingAttempt(id)]);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'importing' });
  await rig.expireLeases(id);
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'syncing', tries: 3 });
  expect(puts()).toBe(2);
});

test('a credential for the right organization replaces a credential for a wrong organization', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: WITHOUT_ORGANIZATION });
  const { organization } = await rowOf(id);
  const token = (suffix: string) => ({ accessToken: 'any', refreshToken: `sbx-ok-10.${suffix}` });
  await replaceCredential(id, token('somebody-else'));
  expect(await rig.importSlice(id)).toMatchObject({ stop: null });
  expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'wrong-organization' });

  await replaceCredential(id, token(organization));
  await rig.importSlice(id);
  expect(await rowOf(id)).toMatchObject({ state: 'syncing', failure: null });
  expect(puts()).toBe(2);
  await rig.verify(id);
  expect(await rowOf(id)).toMatchObject({ state: 'moved' });
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
});

/** Creates a linked company that has fewer records than the manifest expects. */
async function incompleteCompany(): Promise<string> {
  const { id } = await rig.migration(['sbx-short-3-of-10']);
  await rig.importSlice(id);
  await rig.verify(id);
  expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'incomplete' });
  return id;
}

async function fieldsWith(id: string, token: string): Promise<Record<string, string>> {
  const { organization } = await rowOf(id);
  return { accessToken: 'a', refreshToken: `${token}.${organization}`, realmId: organization };
}

test('a replacement for an accepted credential is sent, although the connection is already linked', async () => {
  const id = await incompleteCompany();
  const { crossed_at: crossedAt } = await rowOf(id);
  expect(await rowOf(id)).toMatchObject({ authorized_at: null });
  await replaceCredential(id, await fieldsWith(id, 'sbx-ok-10'));
  await rig.importSlice(id);
  expect(puts()).toBe(2);
  // The company counts under the application that was registered at `authorized_at`, not at `crossed_at`.
  const { crossed_at: stillCrossedAt, authorized_at: authorizedAt } = await rowOf(id);
  expect(stillCrossedAt).toEqual(crossedAt);
  expect(authorizedAt?.getTime()).toBeGreaterThan(crossedAt?.getTime() ?? Infinity);
  await rig.verify(id);
  expect(await rowOf(id)).toMatchObject({ state: 'moved' });
});

test('a refused credential does not count as accepted, although the connection stays linked', async () => {
  const id = await incompleteCompany();
  await replaceCredential(id, await fieldsWith(id, 'sbx-revoked'));
  await rig.importSlice(id);
  expect(puts()).toBe(2);
  expect(await rowOf(id)).toMatchObject({ state: 'failed', failure: 'reauthorization-required', accepted: null });

  // The error of the refused credential does not count against the next credential.
  await replaceCredential(id, await fieldsWith(id, 'sbx-ok-10'));
  await rig.importSlice(id);
  await rig.verify(id);
  expect(await rowOf(id)).toMatchObject({ state: 'moved' });
});

test('closing a migration starts the syncs of a linked company whose attempt died', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  rig.proxy.on('POST', /\/data\/all$/, [dyingAttempt(id)]);
  await rig.importSlice(id);
  await rig.expireLeases(id);
  rig.proxy.reset();
  await stopClaims(rig.ledger.db, id);
  await rig.runActivity((activities) => activities.resolveInterrupted({ migrationId: id }));
  expect(await rowOf(id)).toMatchObject({ state: 'syncing' });
  expect(rig.proxy.arrived('POST', /\/data\/all$/)).toHaveLength(1);
});
