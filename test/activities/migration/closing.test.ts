/**
 * The activities that close a migration. Anyone with write access to the Temporal namespace can start the workflows
 * that call these activities. Therefore each activity acts only if the records in the ledger allow it.
 */
import { randomUUID } from 'node:crypto';
import { terminationRecord } from '../../../domain/decisions/audit-trail';
import type { Route } from '../../../platforms/platforms';
import {
  clearServiceRefs,
  claimCompanies,
  readDecisions,
  readInterrupted,
  readMigration,
  recordDecisions,
  resolveInterrupted,
  stopClaims,
} from '../../../store';
import { Secret } from '../../../security';
import { useImportRig } from '../../support/migrations/company-import';
import { loseAnswer } from '../../support/faults/http-proxy';
import {
  createMovableMigration,
  manifestRows,
  readRow,
  rowsWithCredential,
  sendIntents,
  updateRow,
} from '../../support/migrations/ledger';
import { BY_CLEO, recordOf } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

const close = (migrationId: string) => rig.runActivity((activities) => activities.closeMigration({ migrationId }));
const resolve = (migrationId: string) =>
  rig.runActivity((activities) => activities.resolveInterrupted({ migrationId }));
const deleteUnused = (migrationId: string) => rig.runActivity((activities) => activities.deleteUnused({ migrationId }));
const migrationOf = (id: string) => readMigration(rig.ledger.db, id);

/** Records a termination, with a fake Temporal in which the workflow was terminated. */
async function terminate(migrationId: string): Promise<void> {
  const workflowStatus = { statusOf: async () => 'terminated' as const, scheduled: async () => [] };
  await rig.runActivity(() => rig.worker({ workflowStatus }).recordTermination({ migrationId }));
}
/** Records a cancellation without stopping claims. */
const recordCancellation = (id: string) =>
  recordDecisions(rig.ledger.db, id, [
    { ...terminationRecord('cancelled', null, new Date().toISOString()), verified: true },
  ]);

async function cancellations(id: string): Promise<readonly string[]> {
  const applied = (await readDecisions(rig.ledger.db, id)).filter(({ outcome }) => outcome.applied);
  return applied.filter(({ decision }) => decision.kind === 'cancel').map(({ decision }) => decision.by);
}

/** Creates a migration of two companies. */
async function createMigration(route: Route = 'managed'): Promise<string> {
  return (await createMovableMigration(rig.ledger, manifestRows(2), { route, rotating: route === 'managed' })).id;
}

/** Claims the only company of a new migration, and optionally records the send intent. */
async function claimed({ isSent }: { readonly isSent: boolean }) {
  const { db } = rig.ledger;
  const { id, owner } = await createMovableMigration(rig.ledger, manifestRows(1));
  expect(await claimCompanies(db, owner, 1, null)).toHaveLength(1);
  const send = () => sendIntents(db, owner, [1]);
  if (isSent) await send();
  return { id, send };
}

test('closing a migration destroys its credentials, prevents claims, and can be repeated', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  await expect(close(id)).rejects.toThrow(/the ledger contains no decision that ends/);
  expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1, 2]);
  await recordCancellation(id);
  expect(await close(id)).toMatchObject({
    ending: 'cancelled',
    counts: { total: 2, waiting: 2, withoutCredential: 2 },
  });
  expect(await close(id)).toMatchObject({ counts: { total: 2, waiting: 2 } });
  expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([]);
  expect(await migrationOf(id)).toMatchObject({
    state: 'closed',
    ending: 'cancelled',
    vaultDestroyedAt: expect.any(Date) as Date,
  });
  await expect(rig.importSlice(id)).rejects.toThrow(/its vault was destroyed/);
});

test('closing a migration returns the first 20 links to reconnect, in manifest order', async () => {
  const { db } = rig.ledger;
  const { id } = await createMovableMigration(rig.ledger, manifestRows(23));
  const link = (row: number) => `https://link.example/${row}`;
  for (let row = 1; row <= 22; row += 1) {
    const failure = row === 2 ? 'refused' : 'reauthorization-required';
    await updateRow(db, id, row, { state: 'failed', failure, link_url: link(row) });
  }
  await recordCancellation(id);
  const { reconnect = [] } = await close(id);
  expect(reconnect.map(({ url }) => url)).toEqual(
    [1, ...Array.from({ length: 19 }, (_, index) => index + 3)].map(link),
  );
  expect(Object.keys(reconnect[0] ?? {})).toEqual(['reference', 'name', 'url']);
});

describe('an interrupted company', () => {
  test.each([false, true])('is not resolved while the migration goes on (credential sent: %s)', async (isSent) => {
    const { id } = await claimed({ isSent });
    await rig.expireLeases(id);
    const before = await readRow(rig.ledger.db, id, 1);
    await expect(resolve(id)).rejects.toThrow(/has not ended/);
    expect(await readRow(rig.ledger.db, id, 1)).toEqual(before);
    expect(await migrationOf(id)).toMatchObject({ state: 'open' });
  });

  test.each([false, true])('is resolved only once its lease has ended (credential sent: %s)', async (isSent) => {
    const { id, send } = await claimed({ isSent });
    await recordCancellation(id);
    expect((await resolve(id)).retryInMs).toBeGreaterThan(50_000);
    // The attempt is still alive: it can record its send intent.
    expect(await send()).toEqual(new Set([1]));
    await expect(close(id)).rejects.toThrow(/cannot be closed as cancelled/);
    await rig.expireLeases(id);
    expect(await resolve(id)).toEqual({ retryInMs: null });
    expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ attempt: null });
    expect(await close(id)).toMatchObject({ ending: 'cancelled' });
  });

  test.each([
    [
      'sbx-revoked',
      { state: 'failed', failure: 'reauthorization-required', link_url: expect.stringMatching(/^http/) as string },
    ],
    ['sbx-wrong-organization-3', { state: 'failed', failure: 'wrong-organization' }],
    ['sbx-unavailable', { state: 'waiting', failure: null, authorization_sent_at: null }],
  ])('gets the outcome that its unlinked connection shows (%s)', async (token, outcome) => {
    const { id } = await rig.migration([token], { platformKey: 'vxvy' });
    rig.proxy.on('PUT', /\/authorization$/, [loseAnswer]);
    await rig.importSlice(id);
    expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'importing' });
    await recordCancellation(id);
    await rig.expireLeases(id);
    expect(await resolve(id)).toEqual({ retryInMs: null });
    expect(await readRow(rig.ledger.db, id, 1)).toMatchObject(outcome);
  });

  test('stays as it is if its attempt has written to its row since it was read', async () => {
    const { db } = rig.ledger;
    const { id, send } = await claimed({ isSent: true });
    await stopClaims(db, id);
    await rig.expireLeases(id);
    const [read] = await readInterrupted(db, id);
    if (!read) throw new Error('no company is importing');
    const toWaiting = () => resolveInterrupted(db, id, read, { to: 'waiting', refs: {} });
    await send();
    expect(await toWaiting()).toBe(false);
    await updateRow(db, id, 1, { attempt: 'run-1/1/2' });
    expect(await toWaiting()).toBe(false);
    expect(await readRow(db, id, 1)).toMatchObject({ state: 'importing' });
  });
});

describe('unused companies', () => {
  /** Creates a migration whose companies exist at the service but whose credentials were never used. */
  async function withUnused() {
    const { id } = await rig.migration(['sbx-unavailable', 'sbx-unavailable']);
    await rig.importSlice(id);
    const { company_id: companyId } = await readRow(rig.ledger.db, id, 1);
    return { id, companyId: companyId ?? '' };
  }

  test('are kept until the migration is closed, and while a company is importing', async () => {
    const { id } = await withUnused();
    expect(await deleteUnused(id)).toEqual({ removed: 0 });
    await recordCancellation(id);
    expect(await deleteUnused(id)).toEqual({ removed: 0 });
    await close(id);
    await updateRow(rig.ledger.db, id, 2, { state: 'importing', attempt: 'run-1/1/1' });
    expect(await deleteUnused(id)).toEqual({ removed: 0 });
    await updateRow(rig.ledger.db, id, 2, { state: 'waiting', attempt: null });
    expect(await deleteUnused(id)).toEqual({ removed: 2 });
  });

  test('are kept if another of their connections, to any platform, has been authorized', async () => {
    const { id, companyId } = await withUnused();
    const { directClient } = rig;
    const key = { idempotencyKey: randomUUID() };
    const { id: connectionId } = (await directClient.createConnection(companyId, 'gbol', key)).value;
    const fields = { accessToken: 'a', refreshToken: 'sbx-ok-1.other', tenantId: 'other' };
    await directClient.putAuthorization(companyId, connectionId, new Secret(fields), {
      sendBefore: new Date(Date.now() + 10_000),
      recordSendIntent: async () => undefined,
    });
    await recordCancellation(id);
    await close(id);
    expect(await deleteUnused(id)).toEqual({ removed: 1 });
    expect((await directClient.getCompany(companyId)).value.id).toBe(companyId);
  });

  test.each([
    ['is being moved', { state: 'importing', attempt: 'run-1/1/1' }],
    ['has another company at the service', { company_id: randomUUID() }],
    ['was supplied by the client', { named: 'company' }],
  ] as const)('keep their ids in the ledger if the row %s', async (_, columns) => {
    const { db } = rig.ledger;
    const id = await createMigration();
    const companyId = randomUUID();
    await updateRow(db, id, 1, { company_id: companyId, ...columns });
    const before = await readRow(db, id, 1);
    await clearServiceRefs(db, id, { row: 1, companyId });
    expect(await readRow(db, id, 1)).toEqual(before);
  });
});

describe('a termination', () => {
  test('is recorded even if someone has sent a message with the id that this record once had', async () => {
    const id = await createMigration();
    const forged = recordOf(id, 'cancel', { decisionId: 'terminated-in-temporal', reason: 'x', ...BY_CLEO }, null);
    const recorded = [{ ...forged, outcome: { ...forged.outcome, applied: false, text: 'refused' } }];
    await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
    await terminate(id);
    expect(await close(id)).toMatchObject({ ending: 'cancelled' });
  });

  test.each<Route>(['managed', 'self-service'])('is recorded once (%s)', async (route) => {
    const id = await createMigration(route);
    await terminate(id);
    await terminate(id);
    expect(await cancellations(id)).toEqual(['Tokenferry']);
    await close(id);
    await terminate(id);
    expect(await cancellations(id)).toEqual(['Tokenferry']);
  });

  test.each<Route>(['managed', 'self-service'])('does not change how a migration has ended (%s)', async (route) => {
    const { db } = rig.ledger;
    const id = await createMigration(route);
    for (const row of [1, 2]) await updateRow(db, id, row, { state: 'moved' });
    if (route === 'managed') await signOff(id);
    expect(await close(id)).toMatchObject({ ending: 'completed' });
    const { closedAt } = (await migrationOf(id)) ?? {};
    await terminate(id);
    expect(await cancellations(id)).toEqual([]);
    expect(await close(id)).toMatchObject({ ending: 'completed' });
    expect(await migrationOf(id)).toMatchObject({ ending: 'completed', closedAt });
  });

  test('after both sign-offs completes the migration, unless a company is open', async () => {
    const { db } = rig.ledger;
    const [signedOff, reopened] = [await createMigration(), await createMigration()];
    for (const id of [signedOff, reopened]) await signOff(id);
    for (const row of [1, 2]) await updateRow(db, signedOff, row, { state: 'moved' });
    for (const id of [signedOff, reopened]) await terminate(id);
    expect(await close(signedOff)).toMatchObject({ ending: 'completed' });
    expect(await close(reopened)).toMatchObject({ ending: 'cancelled' });
  });

  test('is refused for a migration that no workflow has opened yet', async () => {
    const id = await createMigration();
    await rig.ledger.db.updateTable('migrations').set({ state: 'supplied' }).where('id', '=', id).execute();
    await expect(terminate(id)).rejects.toThrow(/has not started/);
    expect(await migrationOf(id)).toMatchObject({ state: 'supplied' });
  });
});

describe('a self-service migration', () => {
  test.each([
    ['waits', { state: 'waiting' }],
    ['is importing', { state: 'importing', attempt: 'run-1/1/1' }],
    ['has an unknown outcome', { state: 'outcome-unknown' }],
  ] as const)('is not completed while a company %s', async (_, columns) => {
    const { db } = rig.ledger;
    const id = await createMigration('self-service');
    await updateRow(db, id, 1, { state: 'moved' });
    await updateRow(db, id, 2, columns);
    await expect(close(id)).rejects.toThrow(/cannot be closed as completed/);
    expect(await migrationOf(id)).toMatchObject({ state: 'open', ending: null, vaultDestroyedAt: null });
    expect(await rowsWithCredential(db, id)).toEqual([1, 2]);
  });

  test('is completed if the other companies are syncing, or were added and never checked', async () => {
    const id = await createMigration('self-service');
    await updateRow(rig.ledger.db, id, 1, { state: 'syncing' });
    await updateRow(rig.ledger.db, id, 2, { held_back: 'not checked yet' });
    expect(await close(id)).toMatchObject({ ending: 'completed' });
  });
});

/** Records both sign-offs directly in the ledger. */
async function signOff(id: string): Promise<void> {
  const at = new Date().toISOString();
  const approvals = (['client', 'support'] as const).map((role) => ({
    decision: {
      ...({ kind: 'step', step: 'complete-migration', verdict: 'approve' } as const),
      ...{ decisionId: `sign-off-${role}`, role, by: role },
    },
    outcome: { decisionId: `sign-off-${role}`, applied: true, text: 'done', at },
    verified: true,
  }));
  await recordDecisions(rig.ledger.db, id, approvals);
}
