/** Moves begin only inside the windows. */
import { countCompanies } from '../../../store';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { windowChange, closedWindows, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

test('the first company is not moved outside the windows, and is moved once there are no windows', async () => {
  const migration = await startTestMigration(orchestrator, 'windows', ['sbx-ok-1.windows1', 'sbx-ok-1.windows2']);
  expect(await migration.send('adjust', windowChange(closedWindows()))).toBe('applied');
  await migration.readyToMove();
  const waiting = await migration.until(({ window }) => window !== null);
  expect(waiting.waitingFor).toMatchObject({ roles: [], what: expect.stringMatching(/12:00 UTC$/) as string });
  expect(await countCompanies(orchestrator.ferry.db, migration.id)).toMatchObject({ waiting: 2, importing: 0 });

  expect(await migration.send('adjust', windowChange([]))).toBe('applied');
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

test('companies in flight are finished when a window closes during a run, and the other companies wait', async () => {
  const tokens = [
    'sbx-ok-1.closing-midway',
    ...Array.from({ length: 60 }, (_, index) => `sbx-slow-800-ok-1.closing-midway${index}`),
  ];
  const migration = await startTestMigration(orchestrator, 'closing-midway', tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const { db } = orchestrator.ferry;
  await until(async () => (await countCompanies(db, migration.id)).importing > 0);
  expect(await migration.send('adjust', windowChange(closedWindows()))).toBe('applied');
  const counts = async () => countCompanies(db, migration.id);
  await until(async () => (await counts()).importing + (await counts()).syncing === 0);
  const left = (await counts()).waiting;
  expect(left).toBeGreaterThan(0);
  await migration.until(({ waitingFor }) => waitingFor.what.includes('in the window from'));
  expect((await counts()).waiting).toBe(left);

  expect(await migration.send('adjust', windowChange([]))).toBe('applied');
  await until(async () => (await counts()).moved === tokens.length);
});

test.each([
  ['its window has closed', 'adjust', windowChange(closedWindows()), 3],
  ['it has been paused', 'pause', { reason: 'lunch', ...SUPPORT }, 3],
  ['it has been paused during the ramp', 'pause', { reason: 'lunch', ...SUPPORT }, 5],
] as const)(
  'stragglers of a ramp are verified even if the migration can begin no more moves because %s',
  async (_, message, sent, ramp) => {
    const client = `straggler-${message}-${ramp}`;
    const { ferry } = orchestrator;
    const tokens = Array.from(
      { length: 9 },
      (_each, index) => `sbx-${index === 1 ? 'slow-2000-ok-1' : 'ok-1'}.${client}${index}`,
    );
    const migration = await startTestMigration(orchestrator, client, tokens);
    const limits = { rampCompanies: ramp, slicesAtOnce: 1, companiesPerSliceAtOnce: 2 };
    await migration.send('adjust', { limits, ...SUPPORT });
    await migration.readyToMove();
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
    await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    const counts = async () => countCompanies(ferry.db, migration.id);
    await until(async () => (await counts()).moved >= 2 && (await counts()).importing > 0);
    expect(await migration.send(message, sent)).toBe('applied');
    await until(async () => (await counts()).importing + (await counts()).syncing === 0);
    const { waiting, moved } = await counts();
    expect(waiting).toBeGreaterThan(0);
    expect(waiting + moved).toBe(tokens.length);
    const runs = await ferry.temporalWithoutCodec.workflow.count(`WorkflowId = '${migration.id}.batch'`);
    expect(runs.count).toBeLessThanOrEqual(2);
  },
);
