/**
 * A migration that waits for people holds few promises. The SDK keeps a stack trace for every pending promise, which is
 * most of what such a migration costs in memory.
 */
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { createWorkerDataConverter } from '../../../security';
import { startWorker, type RunningWorker } from '../../../worker';
import { TIMING } from '../../../worker/timing';
import { until } from '../../support/async';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

let orchestrator: OpenedOrchestrator;
let worker: RunningWorker;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  const { payloadConverterPath = '', failureConverterPath = '' } = createWorkerDataConverter(
    orchestrator.config.payloadKeys,
  );
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, '../changed-workflows/counted-promises.ts'),
    workflowInterceptorModules: [path.join(__dirname, '../../../workflows/interceptors.ts')],
    payloadConverterPath,
    failureConverterPath,
    logger: new DefaultLogger('ERROR'),
  });
  worker = await startWorker(orchestrator.config, pino({ level: 'error' }), { workflowBundle }, TIMING);
});
afterAll(async () => {
  await worker.stop();
  await orchestrator.close();
});

/** Waits until a migration holds at most this many pending promises. An activity that has just begun adds some. */
async function untilAtMost({ id }: TestMigration, most: number): Promise<void> {
  const handle = orchestrator.ferry.temporal.workflow.getHandle(id);
  // One of the promises belongs to the query.
  await until(async () => (await handle.query<readonly string[]>('pendingPromises')).length <= most);
}

test('a migration that waits for support to accept its details holds at most 21 promises', async () => {
  const migration = await startTestMigration(orchestrator, 'details', ['sbx-ok-1.details']);
  await migration.until(({ preflight }) => preflight !== null);
  await untilAtMost(migration, 21);
});

test('a migration that waits for both sign-offs holds at most 27 promises', async () => {
  const migration = await startTestMigration(orchestrator, 'sign-off', ['sbx-ok-1.first', 'sbx-ok-1.second']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts, waitingFor }) => counts.moved === 2 && waitingFor.roles.length === 2);
  await untilAtMost(migration, 27);
});
