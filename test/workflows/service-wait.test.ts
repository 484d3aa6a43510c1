/**
 * After a long Retry-After from the service, Temporal does the waiting, so that the wait is visible and occupies no
 * worker.
 */
import { readRetriedErrors } from '../../client';
import { failing } from '../company-data-client/misbehaving-service';
import { until } from '../support/async';
import { startHttpProxy, type HttpProxy } from '../support/faults/http-proxy';
import { useOrchestrator } from '../support/servers/orchestrator';
import { startTestMigration } from './running-migration';

const orchestrator = useOrchestrator();
let between: HttpProxy;
beforeAll(async () => {
  between = await startHttpProxy(orchestrator.service.url);
  const { apiKey } = orchestrator.config.service;
  await orchestrator.startWorker({ service: { url: between.url, apiKey } });
});
afterAll(() => between.close());

test('after a Retry-After of an hour, an activity waits for an hour and shows the reason', async () => {
  const { ferry } = orchestrator;
  between.on('GET', /^\/account/, failing(429, 'slowly', { 'retry-after': '3600' }));
  const { id } = await startTestMigration(orchestrator, 'asked-to-wait', ['sbx-ok-1']);
  await until(async () => (await readRetriedErrors(ferry, id)).length > 0);
  const [outage] = await readRetriedErrors(ferry, id);
  expect(outage).toMatch(/^GET \/account: answered 429 and asks for a retry after /);
  const { raw } = await ferry.temporal.workflow.getHandle(id).describe();
  const [pending] = raw.pendingActivities ?? [];
  const nextAt = Number(pending?.nextAttemptScheduleTime?.seconds);
  expect(nextAt - Date.now() / 1_000).toBeGreaterThan(3_500);
  expect(between.arrived('GET', /^\/account/)).toHaveLength(1);
});
