/** Waiting for conditions, concurrent work, and resources that are open while the tests of a file run. */
import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 200;
/** Ends a wait for something that never happens. On a busy machine, a wait of a second can take half a minute. */
const WITHIN_MS = 60_000;

/**
 * Polls a condition until it is true. Between two polls, waits for a tenth of the time waited so far, but at least 20
 * ms and at most 200 ms: many tests wait at the same time, and a poll can be a query that a worker has to answer.
 *
 * @throws if the condition is not true within `withinMs`
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = WITHIN_MS): Promise<void> {
  const startedAt = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > withinMs) throw new Error(`Not true after ${withinMs} ms: ${condition.toString()}`);
    await delay(Math.min(Math.max(waitedMs / 10, SHORTEST_POLL_MS), LONGEST_POLL_MS));
  }
}

/** Runs `work` on every item, at most `atOnce` at a time. Returns the results in the order of the items. */
export async function mapConcurrently<Item, Result>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const remaining = items.entries();
  const runWorker = async (): Promise<void> => {
    for (const [index, item] of remaining) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, runWorker));
  return results;
}

/**
 * Opens a resource before the tests of a file, and closes it after them. Its properties can be read only while tests
 * are running.
 */
export function useOpened<T extends { close(): Promise<void> }>(open: () => Promise<T>): Omit<T, 'close'> {
  let resource: T | undefined;
  beforeAll(async () => {
    resource = await open();
  });
  afterAll(() => resource?.close());
  return new Proxy({} as T, {
    get: (_, property) => {
      if (!resource) throw new Error('this can only be used while tests are running');
      return Reflect.get(resource, property) as unknown;
    },
  });
}
