/** The remedy of docs/runbook.md for a migration that stands at a result that nobody can decrypt. */
import { randomUUID } from 'node:crypto';
import { readTrail } from '../../store';
import type { RunningWorker } from '../../worker';
import { ferry } from '../cli/captured-terminal';
import { failing } from '../company-data-client/misbehaving-service';
import { until } from '../support/conditions';
import { startHttpProxy, type HttpProxy } from '../support/http-proxy';
import type { Orchestrator } from '../support/orchestrator';
import { startOrchestrator } from '../support/orchestrator';
import { startTestMigration, SUPPORT } from './running-migration';

const INVENTED_KEY = 'deadbeefdeadbeef';
/** `temporal.api.enums.v1.ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE`, the default of `temporal workflow reset` */
const ALL_ELIGIBLE = 3;

let orchestrator: Orchestrator;
let between: HttpProxy;
let worker: RunningWorker;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  between = await startHttpProxy(orchestrator.service.url);
  const { apiKey } = orchestrator.config.service;
  worker = await orchestrator.startWorker({ service: { url: between.url, apiKey } });
});
afterAll(async () => {
  await orchestrator.close();
  await between.close();
});

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('a reset before a result that cannot be decrypted loses no decision', async () => {
  between.on('GET', /^\/account/, failing(429, 'slowly', { 'retry-after': '3600' }));
  const migration = await startTestMigration(orchestrator, 'invented-result', ['sbx-ok-1']);
  const { temporal, db } = orchestrator.ferry;
  const { namespace } = temporal.options;
  const execution = { workflowId: migration.id };
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
  await until(async () => (await run('show', migration.id)).err.includes(cause), 40_000);
  expect((await run('list')).out).toContain(`The worker cannot continue ${migration.id}: ${cause}`);
  expect((await run('doctor')).out).toMatch(new RegExp(`✗ worker +cannot continue ${migration.id}: ${cause}`));
  expect((await run('pause', migration.id, '--by', 'Sam')).out).toContain('recorded but not applied yet');

  // A new worker, because this one keeps the waiting time that the service asked for.
  await worker.stop();
  await orchestrator.startWorker();
  const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution });
  const last = history?.events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await temporal.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: execution,
    reason: 'a result that nobody can decrypt',
    requestId: randomUUID(),
    workflowTaskFinishEventId: last?.eventId ?? null,
    resetReapplyType: ALL_ELIGIBLE,
  });

  await migration.until(({ preflight, state }) => preflight !== null && state === 'paused');
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
  const trail: string[] = [];
  for await (const { decision, outcome } of readTrail(db, migration.id))
    trail.push(`${decision.kind}: ${String(outcome.applied)}`);
  expect(trail).toEqual(['pause: true', 'resume: true', 'step: true']);
}, 120_000);
