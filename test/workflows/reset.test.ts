/** Resets of a migration's workflow: the resets that docs/runbook.md describes, and a reset to the very beginning. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { createWorkerDataConverter, parsePayloadKeys, Secret } from '../../security';
import { readMigration, readTrail } from '../../store';
import { startWorker as startChangedWorker, type RunningWorker } from '../../worker';
import { TIMING } from '../../worker/timing';
import { ferry } from '../cli/captured-terminal';
import { runJson } from '../cli/command-line';
import { failing } from '../company-data-client/misbehaving-service';
import { until } from '../support/async';
import { startHttpProxy, type HttpProxy } from '../support/faults/http-proxy';
import { PAYLOAD_KEY } from '../support/servers/keys';
import { useOrchestrator } from '../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from './running-migration';

const INVENTED_KEY = 'deadbeefdeadbeef';
/**
 * `temporal.api.enums.v1.ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE`, the default of `temporal workflow reset`
 */
const ALL_ELIGIBLE = 3;
/** `RESET_REAPPLY_TYPE_NONE`: the decisions that arrived after the point of the reset are lost. */
const NOTHING = 2;

const { payloadConverterPath = '', failureConverterPath = '' } = createWorkerDataConverter(
  parsePayloadKeys(new Secret(PAYLOAD_KEY)),
);
const orchestrator = useOrchestrator();
let between: HttpProxy;
let worker: RunningWorker;
beforeAll(async () => {
  between = await startHttpProxy(orchestrator.service.url);
  worker = await startWorker();
});
afterAll(() => between.close());

/** Starts a worker that reaches the service through the proxy. */
const startWorker = (): Promise<RunningWorker> =>
  orchestrator.startWorker({ service: { url: between.url, apiKey: orchestrator.config.service.apiKey } });

/**
 * Resets a workflow to one of its completed workflow tasks. That task then runs again.
 *
 * @param task its index; -1 for the last one
 */
async function reset(workflowId: string, task: number, resetReapplyType: number): Promise<void> {
  const { workflow, workflowService, options } = orchestrator.ferry.temporal;
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: tasks.at(task)?.eventId ?? null,
    resetReapplyType,
  });
}

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('a reset before a result that cannot be decrypted loses no decision', async () => {
  between.on('GET', /^\/account/, failing(429, 'slowly', { 'retry-after': '3600' }));
  const migration = await startTestMigration(orchestrator, 'invented-result', ['sbx-ok-1']);
  const { temporal, db } = orchestrator.ferry;
  const { namespace } = temporal.options;
  const pending = async () =>
    (await temporal.workflow.getHandle(migration.id).describe()).raw.pendingActivities?.find(
      ({ lastFailure }) => lastFailure,
    );
  await until(async () => (await pending()) !== undefined);
  const metadata = {
    encoding: Buffer.from('binary/encrypted'),
    'encryption-key-id': Buffer.from(INVENTED_KEY),
  };
  await temporal.workflowService.respondActivityTaskCompletedById({
    namespace,
    workflowId: migration.id,
    activityId: (await pending())?.activityId ?? '',
    result: { payloads: [{ metadata, data: Buffer.from('AAAA') }] },
  });

  const cause = `A payload was encrypted under payload key ${INVENTED_KEY}`;
  await until(async () => (await run('show', migration.id)).err.includes(cause));
  expect((await run('list')).out).toContain(`The worker cannot continue ${migration.id}: ${cause}`);
  expect((await run('doctor')).out).toMatch(
    new RegExp(`✗ worker +the worker cannot continue ${migration.id}: ${cause}`),
  );
  expect((await run('pause', migration.id, '--by', 'Sam')).out).toContain('sent, but not applied yet');

  // Start a new worker, because the old worker would wait for as long as the service asked.
  await worker.stop();
  between.reset();
  worker = await startWorker();
  await reset(migration.id, -1, ALL_ELIGIBLE);

  await migration.until(({ preflight, state }) => preflight !== null && state === 'paused');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
  const trail: string[] = [];
  for await (const { decision, outcome } of readTrail(db, migration.id))
    trail.push(`${decision.kind}: ${String(outcome.applied)}`);
  expect(trail).toEqual(['pause: true', 'resume: true', 'step: true']);

  // The reset has ended the old run, and Temporal still lists it.
  const runs = async () => {
    const statuses: string[] = [];
    const query = `WorkflowId = '${migration.id}'`;
    for await (const { status } of temporal.workflow.list({ query })) statuses.push(status.name);
    return statuses;
  };
  await until(async () => (await runs()).includes('TERMINATED') && (await runs()).includes('RUNNING'));
  const { json } = await runJson(orchestrator, 'list');
  const listed = (json['migrations'] as { readonly migrationId: string }[]).filter(
    ({ migrationId }) => migrationId === migration.id,
  );
  expect(listed).toMatchObject([{ endedInTemporal: false }]);
});

test('a migration whose history no worker can replay continues after a reset to the task before', async () => {
  between.reset();
  await worker.stop();
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'changed-workflows/without-patch.ts'),
    ...{ payloadConverterPath, failureConverterPath, logger: new DefaultLogger('ERROR') },
  });
  const log = pino({ level: 'silent' });
  const changed = await startChangedWorker(orchestrator.config, log, { workflowBundle }, TIMING);
  const migration = await startTestMigration(orchestrator, 'not-replayable', ['sbx-ok-1']);
  // The changed workflow answers no queries before its additional timer has fired.
  try {
    await until(async () => (await readMigration(orchestrator.ferry.db, migration.id))?.state === 'open');
  } finally {
    await changed.stop();
  }
  worker = await startWorker();
  expect((await run('pause', migration.id, '--by', 'Sam')).out).toContain('sent, but not applied yet');
  let shown = '';
  await until(async () => (shown = (await run('show', migration.id)).err).includes('Nondeterminism error'));
  expect(shown).toContain('docs/runbook.md');

  const failedAt = Number(/HistoryEvent\(id: (\d+)/.exec(shown)?.[1]);
  const { workflow } = orchestrator.ferry.temporal;
  const { events } = await workflow.getHandle(migration.id).fetchHistory();
  const completed = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const before = completed.filter(({ eventId }) => Number(eventId) < failedAt).length - 1;
  await reset(migration.id, before, ALL_ELIGIBLE);
  await migration.until(({ preflight, state }) => preflight !== null && state === 'paused');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});

test('a migration that is reset to its beginning passes every step again and moves nothing twice', async () => {
  between.reset();
  const migration = await startTestMigration(orchestrator, 'begins-again', ['sbx-ok-1', 'sbx-ok-2', 'sbx-ok-3']);
  const toTheEnd = async () => {
    await migration.readyToMove();
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
    expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
    await migration.until(({ step, counts }) => step === 'complete-migration' && counts.moved === 3);
  };
  await toTheEnd();
  await reset(migration.id, 0, NOTHING);
  await migration.until(({ step }) => step === 'supply-details');
  await toTheEnd();
  expect(between.arrived('PUT', /authorization$/)).toHaveLength(3);
  for (const person of [SUPPORT, CLIENT])
    expect(await migration.send('approve', { step: 'complete-migration', ...person })).toBe('applied');
});
