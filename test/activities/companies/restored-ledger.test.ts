/** With a ledger that was restored to an older state, no company is created twice, and no token is used twice. */
import { failing } from '../../company-data-client/misbehaving-service';
import { clearLedgerFlag, flagForReconciliation, readDecisions } from '../../../store';
import { takeBackup } from '../../support/servers/backup';
import { activityEnvironment, useImportRig, statusAtService } from '../../support/migrations/company-import';
import { readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const SINGLE_USE = 'vxvy';
const ROWS = [1, 2, 3];
const LIST = /^\/companies\?/;
const puts = () => rig.proxy.arrived('PUT', /\/authorization$/).length;
const lists = () => rig.proxy.arrived('GET', LIST).length;

/** Moves three companies, and restores the ledger to its state before the move. */
async function restoredMigration() {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5'], { platformKey: SINGLE_USE });
  const backup = await takeBackup(rig.ledger.url);
  const { ledgerMark } = await rig.importSlice(id);
  await rig.verify(id);
  expect(puts()).toBe(3);
  await backup.restore();
  await rig.forgetIdempotencyKeys();
  return { id, ledgerMark };
}

const sliceWith = (id: string, ledgerMark: number) =>
  rig.runActivity((activities) => activities.importSlice({ migrationId: id, run: 'run-1', slice: 1, ledgerMark }));

async function expectNothingTwice(id: string): Promise<void> {
  expect(puts()).toBe(3);
  for (const row of ROWS) expect(await statusAtService(rig.directClient, id, row)).toEqual(['company with Linked']);
}

test('no company is claimed in a ledger that is older than the service, even if the caller has seen no mark', async () => {
  const { id } = await restoredMigration();
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 0, stop: 'ledger-behind' });
  expect(await sliceWith(id, 0)).toMatchObject({ claimed: 0, stop: 'ledger-behind' });
  await expectNothingTwice(id);
  for (const row of ROWS) {
    expect(await readRow(rig.ledger.db, id, row)).toMatchObject({ state: 'waiting', tries: 0 });
  }
});

test('the ledger is compared with the service if the caller has seen no mark, even in a run that began earlier', async () => {
  const { id } = await restoredMigration();
  expect(await sliceWith(id, 0)).toMatchObject({ claimed: 0, stop: 'ledger-behind' });
  await expectNothingTwice(id);
});

test('no company is claimed in a ledger that is older than its workflow, and the service is not asked', async () => {
  const { id, ledgerMark } = await restoredMigration();
  const before = lists();
  expect(await sliceWith(id, ledgerMark)).toMatchObject({ claimed: 0, stop: 'ledger-behind', ledgerMark: 0 });
  expect(lists()).toBe(before);
  await expectNothingTwice(id);
});

test('a reconciliation of a ledger that is not behind holds up a batch, but does not pause it', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], { platformKey: SINGLE_USE });
  await flagForReconciliation(rig.ledger.db, id);
  expect(await rig.importSlice(id)).toMatchObject({
    ...{ claimed: 0, stop: null },
    outage: { why: expect.stringContaining('is being reconciled') as string },
  });
  await clearLedgerFlag(rig.ledger.db, id, 0);
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, stop: null, outage: null });
});

test('a slice stops if a fail-over loses its last claims', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5'], { platformKey: SINGLE_USE });
  const backup = await takeBackup(rig.ledger.url);
  rig.proxy.on('POST', /\/data\/all$/, [
    async (_response, _request, pass) => {
      await backup.restore();
      await pass();
    },
  ]);
  expect(await rig.importSlice(id, { atOnce: 1 })).toMatchObject({ claimed: 1, stop: 'ledger-behind' });
  expect(puts()).toBe(1);
});

test('decisions are recorded in a ledger that is older than its workflow, but no company is claimed', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const decision = { kind: 'resume', decisionId: 'resume', role: 'support', by: 'Sam' } as const;
  const outcome = { decisionId: 'resume', applied: true, text: 'resumed', at: new Date().toISOString() };
  const recorded = [{ decision, outcome }];
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded, ledgerMark: 1 }));
  expect(await readDecisions(rig.ledger.db, id)).toHaveLength(1);
  expect(await sliceWith(id, 1)).toMatchObject({ claimed: 0, stop: 'ledger-behind' });
});

test('companies are looked up by their tags if the service does not list the companies of the migration', async () => {
  const { id } = await restoredMigration();
  rig.proxy.on('GET', LIST, [failing(500, 'oops'), failing(500, 'oops'), failing(500, 'oops'), failing(500, 'oops')]);
  await rig.importSlice(id);
  await expectNothingTwice(id);
});

test('the first slice of a run lists all companies once, and the next slice only if an attempt has died', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
  await rig.importSlice(id);
  expect(lists()).toBe(1);
  await sliceWith(id, 1);
  expect(lists()).toBe(1);
  await rig.runActivity(
    (activities) => activities.importSlice({ migrationId: id, run: 'run-1', slice: 1, ledgerMark: 1 }),
    activityEnvironment({ attempt: 2 }),
  );
  expect(lists()).toBe(2);
});

describe('a batch run', () => {
  const inRun = async (currentRun: string, run: string) => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], { platformKey: SINGLE_USE });
    const migrations = rig.ledger.db.updateTable('migrations').set({ current_run: currentRun });
    await migrations.where('id', '=', id).execute();
    const work = { migrationId: id, run, slice: 1, ledgerMark: 0 };
    return { id, report: await rig.runActivity((activities) => activities.importSlice(work)) };
  };
  const currentRunOf = async (id: string) =>
    rig.ledger.db.selectFrom('migrations').select('current_run').where('id', '=', id).executeTakeFirst();

  test.each(['first-company', 'batch-1'])(
    'continues in a ledger that was restored to a time in %s, before the run began, and was reconciled',
    async (restored) => {
      const { id, report } = await inRun(restored, 'batch-2');
      expect(report).toMatchObject({ claimed: 2, stop: null });
      expect(await currentRunOf(id)).toEqual({ current_run: 'batch-2' });
    },
  );

  test('claims nothing once a later run has begun', async () => {
    const { id, report } = await inRun('batch-3', 'batch-2');
    expect(report).toMatchObject({ claimed: 0 });
    expect(await currentRunOf(id)).toEqual({ current_run: 'batch-3' });
  });
});
