/** While no worker is running, more decisions arrive than fit into one Temporal payload. */
import { readDecisions } from '../../../store';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestrator();

const MESSAGES = 60;
/** The length of a UUID with a prefix, in characters. */
const REFERENCE_LENGTH = 45;

test('decisions that exceed one payload all reach the audit trail in order', async () => {
  const worker = await orchestrator.startWorker();
  const migration = await startTestMigration(orchestrator, 'flood', ['sbx-ok-1.flood']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  await until(async () => ((await handle.describe()).raw.pendingActivities ?? []).length === 0);
  await worker.stop();
  const companies = Array.from({ length: 1_000 }, (_, index) => `company-${index}`.padEnd(REFERENCE_LENGTH, '-'));
  expect(MESSAGES * JSON.stringify(companies).length).toBeGreaterThan(2 * 1_024 * 1_024);
  for (let message = 0; message < MESSAGES; message += 1) {
    await handle.signal('confirmSyncDisabled', { companies, decisionId: `flood-${message}`, ...CLIENT });
  }
  await orchestrator.startWorker();
  await until(async () => (await readDecisions(orchestrator.ferry.db, migration.id)).length === MESSAGES);
  const order = (await readDecisions(orchestrator.ferry.db, migration.id)).map(({ outcome }) => outcome.decisionId);
  expect(order).toEqual(Array.from({ length: MESSAGES }, (_, message) => `flood-${message}`));
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});
