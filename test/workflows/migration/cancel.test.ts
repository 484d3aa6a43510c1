/** Cancelling a migration at different moments, by a decision or with Temporal's own tools. */
import { countCompanies, readDecisions, readMigration } from '../../../store';
import { until } from '../../support/async';
import { readRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

const REASON = { reason: 'the client has changed its mind' };
const cancel = ({ send }: TestMigration) => send('cancel', { ...SUPPORT, ...REASON });
const result = ({ id }: TestMigration): Promise<unknown> => orchestrator.ferry.temporal.workflow.getHandle(id).result();

const MOMENTS: readonly (readonly [string, (migration: TestMigration) => Promise<unknown>])[] = [
  ['before any approval', ({ until: reached }) => reached(({ preflight }) => preflight !== null)],
  [
    'while it is waiting for its start',
    async ({ send, until: reached }) => {
      await reached(({ preflight }) => preflight !== null);
      await send('approve', { step: 'supply-details', ...SUPPORT });
      await send('proposeTime', { startAt: '2099-01-01T00:00:00Z', ...SUPPORT });
      await send('approve', { step: 'schedule', ...SUPPORT });
      await send('approve', { step: 'schedule', ...CLIENT });
      await send('approve', { step: 'update-application', ...CLIENT });
      await send('approve', { step: 'update-application', ...SUPPORT });
      await send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
      await reached(({ step }) => step === 'migrate-first-company');
    },
  ],
  [
    'while it is paused',
    async ({ send, until: reached }) => {
      await reached(({ preflight }) => preflight !== null);
      await send('pause', { ...SUPPORT, ...REASON });
    },
  ],
];

test.each(MOMENTS)('cancelling a migration %s moves nothing and destroys its credentials', async (moment, reach) => {
  const migration = await startTestMigration(orchestrator, `cancel-${MOMENTS.findIndex(([name]) => name === moment)}`, [
    'sbx-ok-3',
    'sbx-ok-3',
  ]);
  await reach(migration);
  expect(await cancel(migration)).toBe('applied');
  expect(await result(migration)).toMatchObject({ ending: 'cancelled', counts: { waiting: 2 } });
  const { db } = orchestrator.ferry;
  const stored = await readMigration(db, migration.id);
  expect(stored).toMatchObject({ state: 'closed', ending: 'cancelled' });
  expect(stored?.vaultDestroyedAt).not.toBeNull();
  const decisions = await readDecisions(db, migration.id);
  expect(decisions.at(-1)).toMatchObject({ decision: { kind: 'cancel', ...REASON }, outcome: { applied: true } });
});

test('after a cancellation during a batch, no move begins, and the ledger agrees with the service', async () => {
  // The first company is quick. The authorization of every other company takes a second.
  const tokens = ['sbx-ok-1', ...Array.from({ length: 60 }, (_, index) => `sbx-slow-1000-ok-1.${index}`)];
  // This company is still importing or syncing when all other companies that have begun to move are verified.
  tokens[1] = 'sbx-slow-8000-ok-1.last';
  const migration = await startTestMigration(orchestrator, 'cancel-batch', tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const { db } = orchestrator.ferry;
  await until(async () => (await countCompanies(db, migration.id)).importing > 0);
  expect(await cancel(migration)).toBe('applied');
  const { counts } = (await result(migration)) as { counts: Record<string, number> };
  expect(counts).toMatchObject({ importing: 0, syncing: 0, outcomeUnknown: 0 });
  expect(counts['waiting']).toBeGreaterThan(0);
  // Only companies whose credentials were handed over are linked at the service.
  const service = orchestrator.client();
  for (let row = 1; row <= tokens.length; row += 1) {
    const { state, company_id: companyId, connection_id: connectionId } = await readRow(db, migration.id, row);
    if (state === 'waiting') expect(companyId).toBeNull();
    else {
      const { value } = await service.getConnection(companyId ?? '', connectionId ?? '');
      expect([state, value.status]).toEqual(['moved', 'Linked']);
    }
  }
});

test("cancelling a migration with Temporal's own tools closes it properly, and Temporal shows it as cancelled", async () => {
  const migration = await startTestMigration(orchestrator, 'cancel-temporal', ['sbx-ok-3']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  expect(await readMigration(orchestrator.ferry.db, migration.id)).toMatchObject({ ending: 'cancelled' });
  expect(await readDecisions(orchestrator.ferry.db, migration.id)).toMatchObject([
    { decision: { kind: 'cancel', by: 'Temporal' }, outcome: { applied: true } },
  ]);
});

test('a second cancellation is refused', async () => {
  const migration = await startTestMigration(orchestrator, 'cancel-twice', ['sbx-ok-3']);
  await migration.until(({ preflight }) => preflight !== null);
  await cancel(migration);
  const again = await cancel(migration).catch((error: unknown) => String(error));
  expect(again).toMatch(/migration( cancel-twice.quickbooks-online)? is cancelled/);
});
