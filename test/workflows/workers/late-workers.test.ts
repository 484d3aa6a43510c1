/** No worker is running when a window opens. Work that starts late must still respect the windows. */
import { readWindowSchedule, setSchedulePaused } from '../../../client';
import { scheduleIdOf } from '../../../domain/migration/temporal-names';
import { WEEKDAYS, type WindowOpening } from '../../../domain/planning/windows';
import { countCompanies } from '../../../store';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { windowChange, closedWindows, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const orchestrator = useOrchestrator();

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Returns windows that opened an hour ago and close at the given minute. */
function openUntil(minute: Date) {
  const clock = (at: Date): string => at.toISOString().slice(11, 16);
  return [{ days: WEEKDAYS, from: clock(new Date(Date.now() - HOUR_MS)), to: clock(minute), timeZone: 'UTC' }];
}

const moved = async ({ id }: TestMigration): Promise<number> => (await countCompanies(orchestrator.ferry.db, id)).moved;

/** Returns a migration in step 6 whose Schedule is paused, so that it has not opened the current window. */
async function withUnopenedWindow(client: string, windows: unknown): Promise<TestMigration> {
  const tokens = [1, 2, 3].map((each) => `sbx-ok-1.${client}-${each}`);
  const migration = await startTestMigration(orchestrator, client, tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('adjust', windowChange(closedWindows()));
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const { ferry } = orchestrator;
  await until(async () => (await readWindowSchedule(ferry, migration.id)).state === 'running');
  expect(await setSchedulePaused(ferry, migration.id, true, 'a test')).toBe(true);
  expect(await migration.send('adjust', windowChange(windows))).toBe('applied');
  await migration.until(({ waitingFor }) => waitingFor.what.includes('they are paused'));
  return migration;
}

/** Returns the handle of the openWindow workflow that the Schedule has started. */
async function openWindowHandle({ id }: TestMigration) {
  const { temporal } = orchestrator.ferry;
  const recentActions = async () => (await temporal.schedule.getHandle(scheduleIdOf(id)).describe()).info.recentActions;
  await until(async () => (await recentActions()).length > 0);
  const [action] = await recentActions();
  return temporal.workflow.getHandle(action?.action.workflow.workflowId ?? '');
}

test('a worker that starts within the window moves companies, and a worker that starts after it moves none', async () => {
  const worker = await orchestrator.startWorker();
  const closesAt = new Date(Math.ceil((Date.now() + 25_000) / MINUTE_MS) * MINUTE_MS);
  const [missed, late] = await Promise.all([
    withUnopenedWindow('missed', openUntil(closesAt)),
    withUnopenedWindow('late', openUntil(new Date(Date.now() + 2 * HOUR_MS))),
  ]);
  await worker.stop();

  const { temporal } = orchestrator.ferry;
  for (const { id } of [missed, late]) {
    const schedule = temporal.schedule.getHandle(scheduleIdOf(id));
    await schedule.unpause();
    await schedule.trigger();
  }
  const [ofMissed, ofLate] = [await openWindowHandle(missed), await openWindowHandle(late)];
  await until(() => Date.now() > closesAt.getTime() + 1_000, 2 * MINUTE_MS);

  await orchestrator.startWorker();
  expect(await ofLate.result()).toMatchObject({ opened: true });
  await until(async () => (await moved(late)) === 3);
  const { opened, text } = (await ofMissed.result()) as WindowOpening;
  const [, next = ''] = /^no move begins outside the windows; the next window opens at (.+)$/.exec(text) ?? [];
  expect(opened).toBe(false);
  expect(Date.parse(next)).toBeGreaterThan(Date.now());
  expect(await moved(missed)).toBe(1);

  expect(await countCompanies(orchestrator.ferry.db, missed.id)).toMatchObject({ moved: 1, waiting: 2 });
}, 180_000);
