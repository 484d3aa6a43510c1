import { sql } from 'kysely';
import {
  type Database,
  awaitRelink,
  giveUpRelinking,
  readFigures,
  readRelinking,
  recordRelinked,
  recordUnlinked,
  retryCompanies,
} from '../../../store';
import { failing, html } from '../../company-data-client/misbehaving-service';
import { useImportRig } from '../../support/migrations/company-import';
import { readRow, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

test('the poll gives up on a company that was deleted at the service and continues with the other companies', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  await awaitRelink(db, { migrationId: id, companies: 'all', at: new Date().toISOString() });
  const { company_id: companyId } = await readRow(db, id, 1);
  await rig.directClient.deleteCompany(companyId ?? '');
  const { link_url: linkUrl, organization } = await readRow(db, id, 2);
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);

  const poll = () => rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  const { checkedAt, ...report } = await poll();
  expect(report).toEqual({ reconnected: 1, waiting: 0 });
  // The handover report shows the same time.
  expect((await readFigures(db, id)).reconnectionsCheckedAt).toBe(checkedAt);
  expect(await readRow(db, id, 1)).toMatchObject({
    state: 'failed',
    link_url: null,
    failure_text: expect.stringContaining('the link of this company no longer works') as string,
  });
  expect(await readRow(db, id, 2)).toMatchObject({ state: 'syncing' });
  expect(await readRelinking(db, id)).toEqual([]);
});

test.each<(db: Database, migrationId: string, row: number) => Promise<void>>([
  (db, migrationId, row) => recordRelinked(db, { migrationId, row, authorizedAt: null }),
  recordUnlinked,
  (db, migrationId, row) => giveUpRelinking(db, migrationId, row, 'x'),
])('a poll changes no company that a decision has changed in the meantime', async (record) => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  const { db } = rig.ledger;
  await updateRow(db, id, 1, { state: 'failed', failure: 'incomplete' });
  await updateRow(db, id, 2, { state: 'waiting', relinking_since: new Date() });
  const read = () => Promise.all([1, 2].map((row) => readRow(db, id, row)));
  const before = await read();
  for (const row of [1, 2]) await record(db, id, row);
  expect(await read()).toEqual(before);
});

test('the poll checks the other companies if the service keeps refusing a request for one of them', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  await awaitRelink(db, { migrationId: id, companies: 'all', at: new Date().toISOString() });
  for (const row of [1, 2]) {
    const { link_url: linkUrl, organization } = await readRow(db, id, row);
    expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  }
  const { company_id: companyId } = await readRow(db, id, 1);
  rig.proxy.on('GET', new RegExp(`/companies/${companyId}/connections/`), failing(409, 'busy'));
  const poll = await rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  expect(poll).toMatchObject({ reconnected: 1, waiting: 1, checkedAt: expect.any(String) as string });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'failed' });
  expect(await readRow(db, id, 2)).toMatchObject({ state: 'syncing' });
});

test('a link stays valid if a proxy answers 404 in place of the service', async () => {
  const { id } = await rig.migration(['sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  await awaitRelink(db, { migrationId: id, companies: 'all', at: new Date().toISOString() });
  rig.proxy.on('GET', /\/connections\//, html(404, '<h1>404 page not found</h1>'));
  const poll = rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  await expect(poll).rejects.toMatchObject({ type: 'ForeignResponse' });
  rig.proxy.reset();
  expect(await readRow(db, id, 1)).toMatchObject({ link_url: expect.stringContaining('http') as string });
});

test('an end customer who connects the wrong organization must reconnect again, without stopping the batch', async () => {
  const { id } = await rig.migration(['sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  const connectAs = async (organization: string): Promise<void> => {
    await awaitRelink(db, { migrationId: id, companies: 'all', at: new Date().toISOString() });
    const { link_url: linkUrl } = await readRow(db, id, 1);
    expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
    await rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  };
  await connectAs('4620816365999999999');
  expect(await rig.verify(id)).toMatchObject({ stop: null });
  const { organization } = await readRow(db, id, 1);
  expect(await readRow(db, id, 1)).toMatchObject({
    ...{ state: 'failed', failure: 'wrong-organization' },
    failure_text: `the platform reports organization 4620816365999999999, but the manifest says ${organization}; the end customer has probably connected the wrong organization, so the service now holds the connection of another organization under this reference: send the link to the end customer again`,
    link_url: expect.stringContaining('http') as string,
  });

  await connectAs(organization);
  expect(await rig.verify(id)).toMatchObject({ stop: null });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'moved', failure: null });
});

test('a retry after a reconnection does not send the replacement credential that was refused before', async () => {
  const { id } = await rig.migration(['sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  // Makes the credential a replacement that shows no trace of its refusal.
  await sql`update credentials set supersedes = true, crossed_at = null where migration_id = ${id}`.execute(db);
  await awaitRelink(db, { migrationId: id, companies: 'all', at: new Date().toISOString() });
  const { link_url: linkUrl, organization } = await readRow(db, id, 1);
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  await rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  await updateRow(db, id, 1, { state: 'failed', failure: 'incomplete' });
  await retryCompanies(db, id, 'all');
  await rig.importSlice(id);
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'syncing', failure: null });
});

test('a connection that was linked all the time keeps the time of its authorization', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  await updateRow(db, id, 1, { state: 'failed', failure: 'incomplete', link_url: 'https://link.example' });
  const at = new Date();
  const { reference } = await readRow(db, id, 1);
  await awaitRelink(db, { migrationId: id, companies: [reference], at: at.toISOString() });
  await rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  const { state, authorized_at: authorizedAt } = await readRow(db, id, 1);
  expect(state).toBe('syncing');
  expect(authorizedAt?.getTime()).toBeLessThan(at.getTime());
});

test('the poll checks every company that must reconnect, also those that nobody has decided to relink', async () => {
  const { id } = await rig.migration(['sbx-revoked', 'sbx-revoked']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  const { reference } = await readRow(db, id, 2);
  await awaitRelink(db, { migrationId: id, companies: [reference], at: new Date().toISOString() });
  const { link_url: linkUrl, organization } = await readRow(db, id, 1);
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);

  const poll = () => rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  expect(await poll()).toMatchObject({ reconnected: 1, waiting: 1 });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'syncing' });
  expect(await rig.verify(id)).toMatchObject({ stop: null });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'moved' });
});

test('a company that must reconnect stays so if its connection is linked with the authorization that was refused', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const { db } = rig.ledger;
  await rig.importSlice(id);
  const refused = { state: 'failed', failure: 'reauthorization-required', link_url: 'https://link.example' } as const;
  await updateRow(db, id, 1, { ...refused, sync_started_at: new Date() });
  const poll = await rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  expect(poll).toMatchObject({ reconnected: 0, waiting: 1 });
  expect(await readRow(db, id, 1)).toMatchObject(refused);
});
