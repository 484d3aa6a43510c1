/** A company that syncs for more than a day delays no other company and times out. */
import { msFromNow, updateRow, readRow } from '../../support/migrations/ledger';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker({ syncMsPerRecord: 100 });

/**
 * A credential for a company with so many records that its sync takes thirty hours, at a tenth of a second per record.
 */
const THIRTY_HOURS = 'sbx-ok-1080000';
const HOUR_MS = 3_600_000;

test('a company that syncs for more than a day is polled rarely, delays no other company, and times out', async () => {
  const tokens = Array.from({ length: 30 }, (_, index) => `${index === 5 ? THIRTY_HOURS : 'sbx-ok-1'}.long${index}`);
  const migration = await startTestMigration(orchestrator, 'long-sync', tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === tokens.length - 1);

  const { db, temporal } = orchestrator.ferry;
  const run = temporal.workflow.getHandle(`${migration.id}.batch`);
  await until(async () => ((await run.describe()).raw.pendingActivities ?? []).length === 0);
  const syncingSince = (ms: number) =>
    updateRow(db, migration.id, 6, { sync_started_at: msFromNow(-ms), next_check_at: msFromNow(0) });
  const row = () => readRow(db, migration.id, 6);
  // Makes the sync appear thirty hours old.
  await syncingSince(30 * HOUR_MS);
  await until(async () => ((await row()).next_check_at?.getTime() ?? 0) > Date.now() + 120_000);
  expect((await row()).state).toBe('syncing');

  await syncingSince(37 * HOUR_MS);
  expect(await migration.send('adjust', { limits: { slicesAtOnce: 2 }, ...SUPPORT })).toBe('applied');
  await migration.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  expect(await row()).toMatchObject({
    state: 'failed',
    failure: 'sync-timed-out',
    failure_text: expect.stringContaining('not complete after 36 hours') as string,
  });
});
