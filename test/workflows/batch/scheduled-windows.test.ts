/** The Schedule of a migration, which opens its windows and which people can pause and trigger. */
import { momentText } from '../../../domain/text/sentences';
import { readWindowSchedule, setSchedulePaused, sweep, triggerSchedule, type WindowSchedule } from '../../../client';
import { WEEKDAYS } from '../../../domain/planning/windows';
import { countCompanies } from '../../../store';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import {
  windowChange,
  closedWindows,
  startTestMigration,
  SUPPORT,
  timerSummaries,
  type TestMigration,
} from '../running-migration';

// Syncs are slow, so that the sync of an organization with many invoices outlasts the test.
const orchestrator = useOrchestratorWithWorker({ syncMsPerRecord: 50 });

/** Returns windows that open daily at the given minute, for two hours. */
function openingAt(minute: Date) {
  const clock = (at: Date): string => at.toISOString().slice(11, 16);
  const to = new Date(minute.getTime() + 2 * 3_600_000);
  return [{ days: WEEKDAYS, from: clock(minute), to: clock(to), timeZone: 'UTC' }];
}

const openNow = () => openingAt(new Date(Date.now() - 3_600_000));

const schedule = (id: string): Promise<WindowSchedule> => readWindowSchedule(orchestrator.ferry, id);
const moved = async (id: string): Promise<number> => (await countCompanies(orchestrator.ferry.db, id)).moved;

/** Returns a migration in step 6 that has two companies left and is waiting for its window to open. */
async function waitingForAWindow(client: string, windows: unknown = closedWindows()): Promise<TestMigration> {
  const tokens = [1, 2, 3].map((each) => `sbx-ok-1.${client}-${each}`);
  const migration = await startTestMigration(orchestrator, client, tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('adjust', windowChange(windows))).toBe('applied');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await until(async () => (await schedule(migration.id)).state === 'running');
  return migration;
}

async function claimedSince(id: string, since: Date): Promise<number> {
  const claims = orchestrator.ferry.db.selectFrom('companies').where('migration_id', '=', id);
  return (await claims.where('claimed_at', '>=', since).select('row').execute()).length;
}

async function batchRuns(id: string): Promise<number> {
  const query = `WorkflowId = '${id}.batch'`;
  return (await orchestrator.ferry.temporal.workflow.count(query)).count;
}

test('no move begins before the window opens, and then the other companies are moved', async () => {
  const soon = new Date(Math.ceil((Date.now() + 25_000) / 60_000) * 60_000);
  const migration = await waitingForAWindow('opens', openingAt(soon));
  expect((await schedule(migration.id)).occurrences[0]).toMatchObject({ opensAt: soon.toISOString() });
  expect(await moved(migration.id)).toBe(1);
  await until(async () => (await moved(migration.id)) === 3, 120_000);
  expect(await claimedSince(migration.id, soon)).toBe(2);
  expect(await batchRuns(migration.id)).toBe(1);
}, 180_000);

test('a paused Schedule opens no window, but a trigger opens the current window', async () => {
  const migration = await waitingForAWindow('triggered');
  expect(await setSchedulePaused(orchestrator.ferry, migration.id, true, 'paused by Sam')).toBe(true);
  expect(await migration.send('adjust', windowChange(openNow()))).toBe('applied');
  const progress = await migration.until(({ waitingFor }) => waitingFor.what.includes('they are paused'));
  expect(progress.waitingFor.roles).toEqual(['support']);
  expect(await schedule(migration.id)).toMatchObject({ state: 'paused', note: 'paused by Sam' });
  expect(await moved(migration.id)).toBe(1);
  await until(async () =>
    (await timerSummaries(orchestrator, migration.id)).includes('Until the paused window schedule is checked again'),
  );

  const [one, other] = await Promise.all([trigger(migration.id), trigger(migration.id)]);
  expect([one, other]).toContainEqual(expect.objectContaining({ opened: true }));
  await until(async () => (await moved(migration.id)) === 3);
  expect(await batchRuns(migration.id)).toBe(1);
});

test('resuming a paused Schedule opens the current window at once', async () => {
  const migration = await waitingForAWindow('resumed');
  await setSchedulePaused(orchestrator.ferry, migration.id, true, 'paused by Sam');
  expect(await migration.send('adjust', windowChange(openNow()))).toBe('applied');
  await migration.until(({ waitingFor }) => waitingFor.what.includes('they are paused'));
  await setSchedulePaused(orchestrator.ferry, migration.id, false, 'resumed by Sam');
  await until(async () => (await moved(migration.id)) === 3);
});

test('a migration learns during a batch run that a person has paused or resumed its Schedule', async () => {
  const tokens = Array.from({ length: 60 }, (_, index) => `sbx-slow-800-ok-1.during-${index}`);
  const migration = await startTestMigration(orchestrator, 'during', ['sbx-ok-1.during', ...tokens]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('adjust', windowChange(openNow()))).toBe('applied');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  const counts = () => countCompanies(orchestrator.ferry.db, migration.id);
  await until(async () => (await counts()).importing > 0);

  expect(await setSchedulePaused(orchestrator.ferry, migration.id, true, 'paused by Sam')).toBe(true);
  const paused = await migration.until(({ noFurtherWindow }) => noFurtherWindow === true);
  // Moves continue in the open window.
  expect(paused).toMatchObject({ state: 'running', waitingFor: { roles: [] }, areWindowsPaused: false });
  expect(await setSchedulePaused(orchestrator.ferry, migration.id, false, 'resumed by Sam')).toBe(true);
  await migration.until(({ noFurtherWindow }) => noFurtherWindow === false);

  expect(await setSchedulePaused(orchestrator.ferry, migration.id, true, 'paused by Sam')).toBe(true);
  await migration.until(({ noFurtherWindow }) => noFurtherWindow === true);
  expect(await migration.send('adjust', windowChange(closedWindows()))).toBe('applied');
  const closed = await migration.until(({ waitingFor }) => waitingFor.what.includes('they are paused'));
  expect(closed).toMatchObject({ areWindowsPaused: true, noFurtherWindow: false });
  expect((await counts()).waiting).toBeGreaterThan(0);
});

test('a trigger outside the windows begins no move, and reports when the next window opens', async () => {
  const migration = await waitingForAWindow('outside');
  const [next] = (await schedule(migration.id)).occurrences;
  expect(await trigger(migration.id)).toEqual({
    opened: false,
    text: `no move begins outside the windows; the next window opens at ${momentText(next?.opensAt ?? '')}`,
  });
  expect(await moved(migration.id)).toBe(1);
  expect(await batchRuns(migration.id)).toBe(0);
});

test('windows that are agreed while a long sync is running open for the other companies', async () => {
  const tokens = ['sbx-ok-1.agreed-1', 'sbx-ok-3000.agreed-2', 'sbx-revoked.agreed-3'];
  const migration = await startTestMigration(orchestrator, 'agreed', tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.failed === 1 && counts.syncing === 1);
  expect(await migration.send('adjust', windowChange(closedWindows()))).toBe('applied');
  expect(await migration.replace('R-3', 'sbx-ok-1.agreed-3-new')).toBe('applied');
  await until(async () => (await schedule(migration.id)).state === 'running');
  expect(await moved(migration.id)).toBe(1);

  expect(await migration.send('adjust', windowChange(openNow()))).toBe('applied');
  await until(async () => (await moved(migration.id)) === 2);
  expect(await countCompanies(orchestrator.ferry.db, migration.id)).toMatchObject({ syncing: 1 });
  expect(await batchRuns(migration.id)).toBeLessThanOrEqual(3);
});

test('no window opens after a migration has been cancelled or terminated', async () => {
  const cancelled = await waitingForAWindow('cancelled');
  await cancelled.send('cancel', { reason: 'no longer wanted', ...SUPPORT });
  await until(async () => (await schedule(cancelled.id)).state === 'none');

  const [opened, swept] = await Promise.all([waitingForAWindow('terminated-1'), waitingForAWindow('terminated-2')]);
  await setSchedulePaused(orchestrator.ferry, opened.id, true, 'paused by Sam');
  await opened.send('adjust', windowChange(openNow()));
  for (const { id } of [opened, swept]) await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
  expect(await trigger(opened.id)).toMatchObject({
    opened: false,
    text: expect.stringContaining('is no longer running this migration') as string,
  });
  expect(await trigger(opened.id)).toBeUndefined();
  const disagree = () => Promise.reject(new Error('I do not agree'));
  await expect(sweep(orchestrator.ferry, { beforeDeleting: disagree })).rejects.toThrow('I do not agree');
  expect((await schedule(swept.id)).state).not.toBe('none');
  expect(await sweep(orchestrator.ferry)).toEqual({
    schedulesDeleted: [swept.id],
    open: [opened.id, swept.id],
    unknown: [],
  });
  expect(await trigger(swept.id)).toBeUndefined();
});

const trigger = (id: string) => triggerSchedule(orchestrator.ferry, id);
