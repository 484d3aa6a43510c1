/** Tests which errors of pending activities are reported as problems. */
import { defaultDataConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { readRetriedErrors, readRetries, type MigrationClient } from '../../client';

/** Returns a client for a workflow with these pending activities, whose last attempts ended with this failure. */
function withFailure(lastFailure: object, ...activities: readonly object[]): MigrationClient {
  const pending = activities.length === 0 ? [{ state: 1 }] : activities;
  const raw = { pendingActivities: pending.map((activity) => ({ attempt: 2, lastFailure, ...activity })) };
  const workflow = { getHandle: () => ({ describe: async () => ({ raw }) }) };
  const ferry = {
    temporalWithoutCodec: { workflow },
    temporal: { options: { loadedDataConverter: { ...defaultDataConverter, payloadCodecs: [] } } },
  };
  return ferry as unknown as MigrationClient;
}

test('an activity that another worker continues because its worker has stopped is no problem', async () => {
  const message = 'Worker is shutting down and this activity did not complete in time';
  const stopped = withFailure({ message, applicationFailureInfo: { type: 'WorkerShutdown' } });
  expect(await readRetriedErrors(stopped, 'acme.xero')).toEqual([]);
});

test('an activity that keeps failing is a problem', async () => {
  const failing = withFailure({ message: 'the service is down', applicationFailureInfo: { type: 'Outage' } });
  expect(await readRetriedErrors(failing, 'acme.xero')).toEqual(['the service is down']);
});

test('a heartbeat timeout is explained', async () => {
  const killed = withFailure({ message: 'activity Heartbeat timeout', timeoutFailureInfo: { timeoutType: 4 } });
  expect(await readRetriedErrors(killed, 'acme.xero')).toEqual([
    'a worker stopped responding; any running worker takes over its work',
  ]);
  const timeout = { message: 'activity Heartbeat timeout', timeoutFailureInfo: { timeoutType: 4 } };
  const running = withFailure(timeout, { state: 2, lastStartedTime: msToTs(100_000) });
  expect(await readRetries(running, 'acme.xero')).toEqual([
    { error: 'a worker stopped responding', nextAttempt: 'running' },
  ]);
});

test('a worker that has stopped is reported once, even if another worker has begun one of its activities', async () => {
  const timeout = { message: 'activity Heartbeat timeout', timeoutFailureInfo: { timeoutType: 4 } };
  const activities = [{ state: 2, lastStartedTime: msToTs(100_000) }, { state: 1 }];
  for (const pending of [activities, activities.toReversed()])
    expect(await readRetriedErrors(withFailure(timeout, ...pending), 'acme.xero')).toEqual([
      'a worker stopped responding; any running worker takes over its work',
    ]);
});

test('a heartbeat timeout is no problem once another worker has continued the work', async () => {
  const timeout = { message: 'activity Heartbeat timeout', timeoutFailureInfo: { timeoutType: 4 } };
  const started = { state: 2, lastStartedTime: msToTs(100_000) };
  const heartbeat = { lastHeartbeatTime: msToTs(106_000) };
  expect(await readRetriedErrors(withFailure(timeout, { ...started, ...heartbeat }), 'acme.xero')).toEqual([]);
  // Without a heartbeat, the other worker can have died as well.
  expect(await readRetriedErrors(withFailure(timeout, started), 'acme.xero')).toHaveLength(1);
});

test('an activity that waits for its next attempt says when that begins', async () => {
  const failure = { message: 'the service is down' };
  const waiting = withFailure(failure, { state: 1, scheduledTime: msToTs(Date.parse('2030-01-06T21:00:00Z')) });
  expect(await readRetries(waiting, 'acme.xero')).toEqual([
    { error: 'the service is down', nextAttempt: '2030-01-06T21:00:00.000Z' },
  ]);
  const running = withFailure(failure, { state: 2, scheduledTime: msToTs(1_000) });
  expect(await readRetries(running, 'acme.xero')).toEqual([{ error: 'the service is down', nextAttempt: 'running' }]);
});
