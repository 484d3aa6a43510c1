import { sleep } from '../../company-data-client/semaphore';
import { createSemaphore } from '../../company-data-client/semaphore';

const SIXTY_DAYS_MS = 60 * 86_400_000;
/** Long enough to notice a timer that Node fires immediately because its delay is too long. */
const aMoment = () => new Promise<string>((resolve) => setTimeout(() => resolve('still waiting'), 20));

it('a waiter with a deadline in months waits for its slot', async () => {
  const slots = createSemaphore(1);
  const giveBack = await slots.acquire(Date.now(), undefined);
  const waiting = slots.acquire(Date.now() + SIXTY_DAYS_MS, undefined);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  giveBack?.();
  expect(await waiting).toBeInstanceOf(Function);
});

it('a pause of months does not end immediately', async () => {
  const abort = new AbortController();
  const waiting = sleep(SIXTY_DAYS_MS, abort.signal);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  abort.abort();
  await expect(waiting).rejects.toThrow();
});
