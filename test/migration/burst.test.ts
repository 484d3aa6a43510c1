/** What was decided while nobody worked is more than one message to the ledger can hold. */
import { readTrail } from '../../store';
import type { Orchestrator } from '../support/orchestrator';
import { startOrchestrator } from '../support/orchestrator';
import { until } from '../support/conditions';
import { CLIENT, started } from './started';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
});
afterAll(() => orchestrator.close());

async function confirmationsInTrail(id: string): Promise<number> {
  let found = 0;
  for await (const { decision } of readTrail(orchestrator.ferry.db, id))
    if (decision.kind === 'sync-disabled') found += 1;
  return found;
}

test('three megabytes of decisions that waited for a worker reach the trail, piece after piece', async () => {
  const migration = await started(orchestrator, 'burst', ['sbx-ok-1.burst1']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const companies = Array.from({ length: 1_000 }, (_, row) => `R-${row}-${'x'.repeat(30)}`);
  for (let message = 0; message < 80; message += 1) {
    await handle.signal('confirmSyncDisabled', { decisionId: `burst-${message}`, companies, ...CLIENT });
  }
  await orchestrator.startWorker();
  await until(async () => (await confirmationsInTrail(migration.id)) === 80, 60_000);
  expect((await migration.until(({ preflight }) => preflight !== null)).state).toBe('waiting');
}, 90_000);
