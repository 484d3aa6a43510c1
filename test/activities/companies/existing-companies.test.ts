/** Companies that already exist at the service and whose ids the client supplied are never removed. */
import { randomUUID } from 'node:crypto';
import { closeMigration, stopClaims } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const XERO = 'gbol';
const key = () => ({ idempotencyKey: randomUUID() });

/** Creates a company with the given number of pending connections to Xero. */
async function createExisting(connections = 0) {
  const { id } = (await rig.directClient.createCompany({ name: 'Here before' }, key())).value;
  const connectionIds: string[] = [];
  for (let each = 0; each < connections; each += 1) {
    connectionIds.push((await rig.directClient.createConnection(id, XERO, key())).value.id);
  }
  return { companyId: id, connections: connectionIds };
}

async function statuses(companyId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { status } of rig.directClient.connections(companyId)) found.push(status);
  return found;
}

test.each<[string, string, RegExp]>([
  ['creating the connection', 'POST', /\/connections$/],
  ['the authorization', 'PUT', /\/authorization$/],
  ['starting the syncs', 'POST', /\/data\/all$/],
])(
  'a supplied company gets one connection, authorized once, even if a worker dies after %s',
  async (_, method, path) => {
    const { companyId } = await createExisting();
    const existing = { companyId, connectionId: null };
    const { id } = await rig.migration(['sbx-ok-5'], { platformKey: XERO, row: () => ({ existing }) });
    const { db } = rig.ledger;
    rig.dieAfter(id, method, path);
    await rig.importSlice(id).catch(() => undefined);
    await rig.expireLeases(id);
    await rig.importSlice(id);
    expect(await readRow(db, id, 1)).toMatchObject({ state: 'syncing', company_id: companyId });
    expect(await statuses(companyId)).toEqual(['Linked']);
    expect(rig.proxy.arrived('PUT', /\/authorization$/)).toHaveLength(1);
    expect(rig.proxy.arrived('POST', /^\/companies$/)).toHaveLength(0);
  },
);

test('an interrupted company is resolved from the connection that the client supplied', async () => {
  const { companyId, connections } = await createExisting(2);
  const [, connectionId = ''] = connections;
  const existing = { companyId, connectionId };
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: XERO, row: () => ({ existing }) });
  const { db } = rig.ledger;
  rig.dieAfter(id, 'PUT', /\/authorization$/);
  await rig.importSlice(id).catch(() => undefined);
  await rig.expireLeases(id);
  await stopClaims(db, id);
  expect(await rig.runActivity((activities) => activities.resolveInterrupted({ migrationId: id }))).toEqual({
    retryInMs: null,
  });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'syncing', connection_id: connectionId });
});

test('closing a migration removes the unused companies that it created, but none that the client supplied', async () => {
  const { companyId } = await createExisting();
  const existing = { companyId, connectionId: null };
  const { id } = await rig.migration(['sbx-unavailable', 'sbx-unavailable'], {
    platformKey: XERO,
    row: (row) => (row === 1 ? { existing } : {}),
  });
  await rig.importSlice(id);
  const { company_id: created } = await readRow(rig.ledger.db, id, 2);
  expect(await closeMigration(rig.ledger.db, id, 'cancelled')).toBe(true);
  expect(await rig.runActivity((activities) => activities.deleteUnused({ migrationId: id }))).toEqual({ removed: 1 });
  expect((await rig.directClient.getCompany(companyId)).value.id).toBe(companyId);
  await expect(rig.directClient.getCompany(created ?? '')).rejects.toThrow('404');
});

test('the preflight holds back a supplied company that is already connected, unless an earlier try connected it', async () => {
  const { companyId } = await createExisting();
  const existing = { companyId, connectionId: null };
  const { id } = await rig.migration(['sbx-ok-1'], { platformKey: XERO, row: () => ({ existing }) });
  await rig.importSlice(id);
  const { db } = rig.ledger;
  await db.updateTable('companies').set({ state: 'waiting' }).where('migration_id', '=', id).execute();
  const check = () => rig.runActivity((activities) => activities.preflight({ migrationId: id, startAt: null }));
  expect((await check()).heldBack).toBe(0);
  await db.updateTable('companies').set({ crossed_at: null }).where('migration_id', '=', id).execute();
  expect((await check()).heldBack).toBe(1);
});
