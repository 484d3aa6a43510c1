/**
 * New builds of the workflow code while migrations run: a rollout during a batch, and the rollback of a broken build.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { withCode, withMoreActivities } from '../../../chaos/faults/changed-build';
import { checkEverything } from '../../../cli/doctor';
import { readProgress } from '../../../client';
import type { Progress } from '../../../domain/progress/progress';
import { startWorker, type RunningWorker } from '../../../worker';
import { TIMING } from '../../../worker/timing';
import { buildIdOf } from '../../../worker/versioning';
import { ferry } from '../../cli/captured-terminal';
import { until } from '../../support/async';
import { SEPARATE_NAMESPACES } from '../../support/jest/namespaces';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { temporalCli } from '../../support/servers/shared-servers';
import { startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const DEPLOYMENT = 'tokenferry';
const NAMESPACE = SEPARATE_NAMESPACES.versions;

/** The present build, from `dist`. */
const PRESENT = readFileSync(path.join(__dirname, '../../../dist/workflow-bundle.js'), 'utf8');
/** A changed build. It can continue a migration that the present build has started, but not a batch run. */
const CHANGED = withMoreActivities(PRESENT);
/** A build that cannot continue any migration. */
const BROKEN = withCode(
  CHANGED,
  'function managedMigration(input) {',
  "function managedMigration(input) {\n    throw new Error('this build is broken');",
);

let orchestrator: OpenedOrchestrator;
const workers: RunningWorker[] = [];
beforeAll(async () => {
  orchestrator = await startOrchestrator({}, undefined, NAMESPACE);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await orchestrator.close();
});

async function deploy(code: string): Promise<RunningWorker> {
  const config = { ...orchestrator.config, workerDeployment: DEPLOYMENT };
  const worker = await startWorker(config, pino({ level: 'silent' }), { workflowBundle: { code } }, TIMING);
  workers.push(worker);
  await until(() => Promise.resolve(makeCurrent(code)));
  return worker;
}

/** Runs the documented command. Returns false if Temporal does not know the build yet, because no worker has polled. */
function makeCurrent(code: string): boolean {
  const version = ['--deployment-name', DEPLOYMENT, '--build-id', buildIdOf(code)];
  const target = ['--address', orchestrator.config.temporal.address, '--namespace', NAMESPACE, '--yes'];
  try {
    const command = ['worker', 'deployment', 'set-current-version', ...version, ...target];
    execFileSync(temporalCli(), command, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a migration, and returns once its batch has moved a few companies. */
async function inTheMiddleOfABatch(client: string): Promise<TestMigration> {
  const credentials = Array.from({ length: 40 }, (_, index) => `sbx-slow-400-ok-1.${client}-${index}`);
  const migration = await startTestMigration(orchestrator, client, credentials);
  expect(await migration.send('adjust', { limits: { companiesPerMinute: 120 }, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await movedInLedger(migration, 5);
  return migration;
}

async function movedInLedger({ id }: TestMigration, companies: number): Promise<void> {
  const moved = orchestrator.ferry.db
    .selectFrom('companies')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('migration_id', '=', id)
    .where('state', '=', 'moved');
  await until(async () => Number((await moved.executeTakeFirstOrThrow()).count) >= companies);
}

/** Returns the builds that have completed workflow tasks, in order, and the number of failed workflow tasks. */
async function tasksOf(workflowId: string): Promise<{ readonly builds: readonly string[]; readonly failed: number }> {
  const { events } = await orchestrator.ferry.temporal.workflow.getHandle(workflowId).fetchHistory();
  const builds = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
    completed ? [completed.deploymentVersion?.buildId ?? 'unversioned'] : [],
  );
  const failed = (events ?? []).filter(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes);
  return { builds: builds.filter((build, index) => build !== builds[index - 1]), failed: failed.length };
}

async function doctor(): Promise<Record<string, string>> {
  const results = await checkEverything(orchestrator.env);
  return Object.fromEntries(results.map(({ check, verdict, finding }) => [check, `${verdict}: ${finding}`]));
}

const isReached = ({ counts }: Progress): boolean => counts.moved === 40;

test('a batch run ends on the build that began it, while its migration continues on the new build', async () => {
  const present = await deploy(PRESENT);
  const migration = await inTheMiddleOfABatch('rolled-out');
  await deploy(CHANGED);
  // The batch run still needs the older build.
  expect((await doctor())['worker versions']).toMatch(
    new RegExp(`${buildIdOf(CHANGED)} is current; .*: ${buildIdOf(PRESENT)}$`),
  );
  await migration.until(isReached);

  const batch = orchestrator.ferry.temporal.workflow.getHandle(`${migration.id}.batch`);
  await until(async () => (await batch.describe()).status.name === 'COMPLETED');
  expect(await tasksOf(batch.workflowId)).toEqual({ builds: [buildIdOf(PRESENT)], failed: 0 });
  await until(async () => (await tasksOf(migration.id)).builds.includes(buildIdOf(CHANGED)));
  expect(await tasksOf(migration.id)).toEqual({ builds: [buildIdOf(PRESENT), buildIdOf(CHANGED)], failed: 0 });
  await present.stop();
});

test('a broken build is reported for as long as it is current, and a rollback loses nothing', async () => {
  const migration = await inTheMiddleOfABatch('rolled-back');
  expect((await tasksOf(migration.id)).builds).toEqual([buildIdOf(CHANGED)]);
  await deploy(BROKEN);
  const reported = async (): Promise<boolean> =>
    (await doctor())['worker']?.includes('this build is broken') === true &&
    (await ferry(['show', migration.id], undefined, orchestrator.env)).err.includes('this build is broken');
  await until(reported);
  // The batch run stays on its own build, so companies still move.
  await movedInLedger(migration, 40);
  expect(await reported()).toBe(true);

  expect(makeCurrent(CHANGED)).toBe(true);
  // Temporal retries the failing task with increasing delays. Until the next retry, the migration does not answer.
  await until(() => readProgress(orchestrator.ferry, migration.id).then(isReached, () => false), 100_000);
  const { builds, failed } = await tasksOf(migration.id);
  expect(builds).toEqual([buildIdOf(CHANGED)]);
  expect(failed).toBeGreaterThan(0);
  expect(await doctor()).toMatchObject({ 'worker versions': `ok: build ${buildIdOf(CHANGED)} is current` });
});
