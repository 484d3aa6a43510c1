import { pause } from '../../company-data-client/semaphore';
import { createSemaphore } from '../../company-data-client/semaphore';

const SIXTY_DAYS_MS = 60 * 86_400_000;
/** A timer that Node cannot hold ends within a millisecond. */
const aMoment = () => new Promise<string>((resolve) => setTimeout(() => resolve('still waiting'), 20));

it('whoever may wait for months waits until it is their turn', async () => {
  const slots = createSemaphore(1);
  const giveBack = await slots.acquire(Date.now(), undefined);
  const waiting = slots.acquire(Date.now() + SIXTY_DAYS_MS, undefined);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  giveBack?.();
  expect(await waiting).toBeInstanceOf(Function);
});

it('whoever is told to come back in months waits', async () => {
  const abort = new AbortController();
  const waiting = pause(SIXTY_DAYS_MS, abort.signal);
  expect(await Promise.race([waiting, aMoment()])).toBe('still waiting');
  abort.abort();
  await expect(waiting).rejects.toThrow();
});
