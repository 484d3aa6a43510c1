/** The activity that repairs a ledger: it trusts neither Temporal's history nor its caller. */
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { checkLedgerMark, readDecisions, readLedgerStatus, readMigration } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';
import { createMovableMigration, manifestRows, release, updateRow } from '../../support/ledger';
import { BY_SAM, CLEO, recordOf, SAM, SIGNED, steps1To3 } from '../../support/signed-decisions';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

function allApprovals(id: string, sam: typeof SAM | null, cleo: typeof SAM | null): readonly DecisionRecord[] {
  return [...steps1To3(id, { sam, cleo }), recordOf(id, 'approve', { step: 'migrate-first-company', ...BY_SAM }, sam)];
}

/** Returns a signed migration whose ledger has lost all decisions. */
async function signedMigration(): Promise<string> {
  const { id } = await createMovableMigration(rig.ledger, manifestRows(2), { decisions: SIGNED });
  await release(rig.ledger.db, id, 'nothing');
  return id;
}

function reconcile(id: string, decisions: readonly DecisionRecord[], ledgerMark = 0) {
  const workflowRecords = {
    statusOf: async () => ({ workflow: 'running' as const, ledgerMark }),
    decisionsOf: async () => decisions,
  };
  return rig.runActivity(() => rig.worker({ workflowRecords }).reconcileLedger({ migrationId: id }));
}
const released = async (id: string) => (await readMigration(rig.ledger.db, id))?.released;

test('signed decisions are restored, and what they release', async () => {
  const id = await signedMigration();
  await updateRow(rig.ledger.db, id, 1, { state: 'moved' });
  const { decisions, refused } = await reconcile(id, allApprovals(id, SAM, CLEO));
  expect(decisions).toHaveLength(7);
  expect(refused).toEqual([]);
  expect(await released(id)).toBe('all');
  const again = await reconcile(id, []);
  expect(again.decisions).toEqual([]);
});

test.each<[string, (id: string) => readonly DecisionRecord[], RegExp]>([
  ['is not signed', (id) => allApprovals(id, null, null), /must be signed/],
  ['is signed with the key of somebody else', (id) => allApprovals(id, CLEO, SAM), /belongs to/],
  ['is signed for another migration', () => allApprovals('other', SAM, CLEO), /does not match/],
])('a history in which every decision %s releases nothing, and nothing of it is recorded', async (_, history, why) => {
  const id = await signedMigration();
  const { decisions, refused } = await reconcile(id, history(id));
  expect(decisions).toEqual([]);
  expect(refused).toHaveLength(7);
  for (const each of refused) expect(each.why).toMatch(why);
  expect(await released(id)).toBe('nothing');
  expect(await readDecisions(rig.ledger.db, id)).toEqual([]);
});

test('the first company is not approved if neither the ledger nor the service has a company', async () => {
  const id = await signedMigration();
  const { refused } = await reconcile(id, allApprovals(id, SAM, CLEO));
  expect(refused).toMatchObject([{ why: 'no first company has been moved and verified yet' }]);
  expect(await released(id)).toBe('first-company');
});

test('a signed decision from before one that the ledger has is not restored', async () => {
  const id = await signedMigration();
  const pause = recordOf(id, 'pause', { reason: 'a problem', ...BY_SAM }, SAM);
  const resume = recordOf(id, 'resume', BY_SAM, SAM);
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [resume] }));
  const { refused } = await reconcile(id, [pause]);
  expect(refused).toMatchObject([{ kind: 'pause', why: expect.stringContaining('out of order') as string }]);
});

test('the ledger counts as current afterwards, also for a slice that knows of more claims', async () => {
  const id = await signedMigration();
  await checkLedgerMark(rig.ledger.db, id, 7);
  expect(await readLedgerStatus(rig.ledger.db, id)).toMatchObject({ behindSince: expect.any(Date) as Date });
  await reconcile(id, [], 7);
  expect(await checkLedgerMark(rig.ledger.db, id, 7 + 1_000)).toMatchObject({ behindSince: null });
});
