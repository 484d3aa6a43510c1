/**
 * `ferry reconcile` finds the companies that a restored service has lost, unless they are left out, their lease has not
 * ended, or the client supplied their id.
 */
import { failing } from '../../company-data-client/misbehaving-service';
import { useImportRig, statusAtService } from '../../support/migrations/company-import';
import { msFromNow, readRow, updateRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const PUT = /\/authorization$/;
const reconcile = (id: string) => rig.runActivity((activities) => activities.reconcileLedger({ migrationId: id }));

/** Imports a company, with or without sending its credential, then deletes it at the service and changes its row. */
async function lostCompany(isSent: boolean, row: Parameters<typeof updateRow>[3]): Promise<string> {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: 'vxvy' });
  const { db } = rig.ledger;
  if (!isSent) rig.proxy.on('PUT', PUT, failing(429, 'later'));
  await rig.importSlice(id);
  rig.proxy.reset();
  const companyId = (await readRow(db, id, 1)).company_id ?? '';
  await rig.directClient.deleteCompany(companyId);
  await rig.forgetIdempotencyKeys();
  await updateRow(db, id, 1, { not_before: null, ...row });
  return id;
}

const CLEARED = { company_id: null, connection_id: null, stored_name: null, link_url: null, accepted: null };
const DEAD = { state: 'importing', attempt: 'died', lease_ends_at: msFromNow(-1) } as const;

test.each<[string, Parameters<typeof updateRow>[3]]>([
  ['waiting', { state: 'waiting' }],
  ['importing with a dead lease', DEAD],
  ['failed', { state: 'failed', failure: 'refused', failure_text: 'the service refused the company' }],
  ['failed and waiting for its end customer', { state: 'failed', relinking_since: msFromNow(0) }],
  ['outcome-unknown', { state: 'outcome-unknown' }],
  ['syncing', { state: 'syncing' }],
  ['moved', { state: 'moved' }],
])('a company that is %s and whose credential was sent needs a new credential', async (_, row) => {
  const id = await lostCompany(true, row);
  expect(await reconcile(id)).toMatchObject({ gone: ['c1'], toCreate: [] });
  const expected = { state: 'failed', failure: 'credential-unreadable', relinking_since: null, ...CLEARED };
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject(expected);
  expect(await reconcile(id)).toMatchObject({ gone: [], toCreate: [] });
});

test.each<[string, Parameters<typeof updateRow>[3]]>([
  ['waiting', { state: 'waiting' }],
  ['importing with a dead lease', DEAD],
])('a company that is %s and whose credential was not sent is created again', async (_, row) => {
  const id = await lostCompany(false, row);
  expect(await reconcile(id)).toMatchObject({ gone: [], toCreate: ['c1'] });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'waiting', failure: null, ...CLEARED });
  await rig.importSlice(id);
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'syncing' });
  expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
  expect(rig.proxy.arrived('PUT', PUT)).toHaveLength(1);
});

test('a failed company whose credential was not sent keeps its failure, but not its ids', async () => {
  const failure = { failure: 'refused', failure_text: 'the service refused the company' } as const;
  const id = await lostCompany(false, { state: 'failed', ...failure });
  expect(await reconcile(id)).toMatchObject({ gone: [], toCreate: ['c1'] });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'failed', ...failure, ...CLEARED });
});

test.each<[string, Parameters<typeof updateRow>[3]]>([
  ['is being imported', { ...DEAD, lease_ends_at: msFromNow(60_000) }],
  ['was skipped', { state: 'skipped' }],
  ['was named by the client', { state: 'waiting', named: 'company' }],
])('a company that %s stays as it is', async (_, row) => {
  const id = await lostCompany(true, row);
  const before = await readRow(rig.ledger.db, id, 1);
  expect(await reconcile(id)).toMatchObject({ gone: [], toCreate: [] });
  expect(await readRow(rig.ledger.db, id, 1)).toEqual(before);
});
