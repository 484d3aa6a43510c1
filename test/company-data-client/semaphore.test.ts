import { sleep, createSemaphore } from '../../company-data-client/semaphore';

const SIXTY_DAYS_MS = 60 * 86_400_000;
/** Waits 20 ms, which is long enough to notice a timer that Node fires immediately because its delay is too long. */
const aMoment = () => new Promise<string>((resolve) => setTimeout(() => resolve('still waiting'), 20));

it('a waiter whose deadline is months away waits for its slot', async () => {
  const slots = createSemaphore(1);
  const release = await slots.acquire(Date.now(), undefined);
  const waiting = slots.acquire(Date.now() + SIXTY_DAYS_MS, undefined);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  release?.();
  expect(await waiting).toBeInstanceOf(Function);
});

it('a sleep of two months does not end immediately', async () => {
  const abort = new AbortController();
  const waiting = sleep(SIXTY_DAYS_MS, abort.signal);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  abort.abort();
  await expect(waiting).rejects.toThrow();
});
