import { createSlots } from '../../company-data-client/slots';

const DAY_MS = 86_400_000;

test('whoever may wait for months waits until it is their turn', async () => {
  const slots = createSlots(1);
  const giveBack = await slots.take(Date.now(), undefined);
  const waiting = slots.take(Date.now() + 60 * DAY_MS, undefined);
  let isOver = false;
  void waiting.then(() => (isOver = true));
  // A timer that Node cannot hold ends within a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isOver).toBe(false);
  giveBack?.();
  expect(await waiting).toBeDefined();
});
