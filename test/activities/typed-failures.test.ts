/** The failures of activities as Temporal receives them. */
import { ApplicationFailure } from '@temporalio/activity';
import { dropped, failing } from '../company-data-client/misbehaving-service';
import { useImportRig } from '../support/migrations/company-import';
import type { Interceptor } from '../support/faults/http-proxy';
import { updateRow } from '../support/migrations/ledger';

const rig = useImportRig();

/** Returns the failure of `checkReconnected` while every read of a connection is intercepted. */
async function failureOf(interference: Interceptor): Promise<ApplicationFailure> {
  const { id } = await rig.migration(['sbx-revoked']);
  await rig.importSlice(id);
  await updateRow(rig.ledger.db, id, 1, { relinking_since: new Date() });
  rig.proxy.on('GET', /\/connections/, interference);
  const activity = rig.runActivity((activities) => activities.checkReconnected({ migrationId: id }));
  const failure = await activity.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ApplicationFailure)) throw new Error('expected an ApplicationFailure', { cause: failure });
  return failure;
}

test('the next attempt waits for as long as the service asks us to', async () => {
  const failure = await failureOf(failing(429, 'slowly', { 'retry-after': '3600' }));
  expect(failure).toMatchObject({ type: 'DeferredUntil', nonRetryable: false });
  expect(Number(failure.nextRetryDelay)).toBeGreaterThan(3_590_000);
  expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(3_600_000);
});

test.each<[string, Interceptor, string]>([
  ['an outage', failing(503, 'maintenance'), 'ServiceFailing'],
  ['a dropped connection', dropped, 'NoResponse'],
  ['a refused key', failing(401, 'the key is wrong'), 'KeyRefused'],
])('%s causes a retryable failure with its own type', async (_, interference, type) => {
  const failure = await failureOf(interference);
  expect(failure).toMatchObject({ type, nonRetryable: false });
  expect(failure.message).toContain('GET /companies/');
  expect(failure.nextRetryDelay).toBeUndefined();
});

test('the failure contains neither the API key nor the cause of the error', async () => {
  const failure = await failureOf((response, { headers }) => {
    failing(400, `no such key: ${headers.authorization}`)(response, {} as never);
  });
  expect(failure.type).toBe('BadRequest');
  expect(failure.message).toContain('no such key');
  expect(failure.message).not.toMatch(/Basic \S{20}/);
  expect(failure.cause).toBeUndefined();
});
