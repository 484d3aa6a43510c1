/** The probe of the service that a slice sends after a deferral. */
import { setTimeout as delay } from 'node:timers/promises';
import { createCircuitBreaker } from '../../../activities/companies/circuit-breaker';
import { createServiceProbe } from '../../../activities/companies/service-probe';

function probing(
  isServiceDown: (signal: AbortSignal) => Promise<boolean | null>,
  signal = new AbortController().signal,
) {
  const breaker = createCircuitBreaker(null);
  const onOpened = jest.fn(async () => undefined);
  const now = Date.now();
  const deferredBy = { why: 'Maintenance', source: 'service' } as const;
  breaker.record({ deferredBy, isRetry: false, beganAt: now - 10, endedAt: now });
  return { breaker, onOpened, probe: createServiceProbe({ breaker, isServiceDown, onOpened, signal }) };
}

/** A probe that never gets an answer. Rejects when its signal aborts, as a call does. */
const unanswered = (signal: AbortSignal): Promise<boolean> =>
  delay(60_000, true, { signal }).catch((error: unknown) => {
    throw signal.reason ?? error;
  });

test('opens the breaker if the service is down, and asks only once at a time', async () => {
  const isServiceDown = jest.fn(async () => true);
  const { breaker, onOpened, probe } = probing(isServiceDown);
  probe.start();
  probe.start();
  await probe.opened;
  await probe.end();
  expect(breaker.isOpen(100)).toBe(true);
  expect(onOpened).toHaveBeenCalledTimes(1);
  expect(isServiceDown).toHaveBeenCalledTimes(1);
});

test('the end of a slice that has stopped does not wait for the probe', async () => {
  const { breaker, onOpened, probe } = probing(unanswered);
  probe.start();
  probe.cancel();
  await probe.end();
  expect(breaker.isOpen(100)).toBe(false);
  expect(onOpened).not.toHaveBeenCalled();
});

test('the cancellation of the activity ends the probe without an error', async () => {
  const cancellation = new AbortController();
  const { probe } = probing(unanswered, cancellation.signal);
  probe.start();
  cancellation.abort(new Error('cancelled'));
  await expect(probe.end()).resolves.toBeUndefined();
});

test('a failure of the probe reaches the slice', async () => {
  const { probe } = probing(async () => Promise.reject(new Error('the database does not answer')));
  probe.start();
  await expect(probe.end()).rejects.toThrow('the database does not answer');
});

test('a slice that cannot probe the service learns nothing about it', async () => {
  const { breaker, probe } = probing(async () => null);
  const { since } = breaker.report(1) ?? {};
  await delay(20);
  probe.start();
  await probe.end();
  expect(breaker.report(1)).toMatchObject({ since });
  expect(breaker.isOpen(100)).toBe(false);
});
