/**
 * Worker pool of a slice: handles companies concurrently, but takes them and writes their outcomes in groups.
 *
 * Groups keep the number of SQL statements small: one statement claims many companies, and one writes many outcomes. No
 * company waits for another company, so a slow company does not delay the others.
 *
 * ## Modes
 *
 * - FILLING, the initial mode. When at most half of the slots are busy, `take` is called for more items, and each of
 *   them starts at once. `take` is called again after the next write, or at `nextTakeAt` if a slot is free then,
 *   because the pace can allow another company while items are in flight. `take` returns none if no company can be
 *   taken now, the slice's time is up, the activity is cancelled, or the circuit breaker is open.
 *   - `write` returned false, or `handle` threw -> DRAINING. `write` returns false if an outcome stops the run, the
 *     slice has paused the migration because of its failures, or the circuit breaker is open.
 *   - `take` returned none, and no item is in flight or unwritten -> ENDED.
 * - DRAINING. No more items are taken. Items in flight run to completion and are written.
 *   - No item is in flight or unwritten -> ENDED.
 * - ENDED. The pool returns, or throws the first error of `handle`.
 *
 * If `take` or `write` itself throws, the pool waits for the items in flight and throws that error. Results that were
 * not written are lost. Their companies stay as they are: the next attempt releases or reclaims companies that were
 * being imported (store/companies/lease.ts), and checks syncing companies again.
 *
 * ## When results are written
 *
 * Results are written as soon as one of these is true: half of the slots have a result, the oldest result has waited
 * for 200 ms, no item is in flight, or `nextTakeAt` has come. Results that arrive in the same turn of the event loop
 * are written together. After every write, items are taken if at most half of the slots are busy, so slots are also
 * filled in groups.
 */

interface WorkerPoolOptions<Item, Result> {
  /**
   * Takes the next items; empty if there are none right now.
   *
   * @param inFlight the number of items that have been taken but not written
   */
  readonly take: (inFlight: number) => Promise<NextItems<Item>>;
  readonly handle: (item: Item) => Promise<Result>;
  /** Writes results. Returns false to stop taking items. */
  readonly write: (results: readonly Result[]) => Promise<boolean>;
}

interface NextItems<Item> {
  readonly items: readonly Item[];
  /** The pool's concurrency from now on. */
  readonly concurrency: number;
  /**
   * The time from which one free slot is enough for `take` to be called again. Before it, at least half of the slots
   * must be free. Epoch milliseconds; 0: there is no such time.
   */
  readonly nextTakeAt: number;
}

const WRITE_WITHIN_MS = 200;

/**
 * Runs the pool until it has ended.
 *
 * @throws the first error of `handle`, `take` or `write`
 */
export async function runWorkerPool<Item, Result>({
  take,
  handle,
  write,
}: WorkerPoolOptions<Item, Result>): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let results: Result[] = [];
  let concurrency = 1;
  let nextTakeAt = 0;
  let isDraining = false;
  let failure: { readonly reason: unknown } | undefined;
  let onItemEnd = (): void => undefined;

  function begin(item: Item): void {
    const work = handle(item)
      .then(
        (result) => void results.push(result),
        (reason: unknown) => void (failure ??= { reason }),
      )
      .finally(() => {
        inFlight.delete(work);
        onItemEnd();
      });
    inFlight.add(work);
  }

  function canTake(): boolean {
    if (isDraining || failure) return false;
    const isDue = nextTakeAt > 0 && Date.now() >= nextTakeAt;
    return inFlight.size <= concurrency / 2 || (isDue && inFlight.size < concurrency);
  }

  /** Waits until results are worth writing, or until the next items can be taken. */
  async function untilNextStep(): Promise<void> {
    let writeTimer: NodeJS.Timeout | undefined;
    let takeTimer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const takeInMs = nextTakeAt - Date.now();
      if (takeInMs > 0 && !isDraining && !failure) takeTimer = setTimeout(resolve, takeInMs);
      onItemEnd = () => {
        if (inFlight.size === 0 || results.length >= concurrency / 2) setImmediate(resolve);
        else if (results.length > 0) writeTimer ??= setTimeout(resolve, WRITE_WITHIN_MS);
      };
      onItemEnd();
    });
    clearTimeout(writeTimer);
    clearTimeout(takeTimer);
  }

  try {
    for (;;) {
      const group = results;
      results = [];
      if (group.length > 0 && !(await write(group))) isDraining = true;
      if (canTake()) {
        // Results that arrived during the write still occupy their slots.
        const taken = await take(inFlight.size + results.length);
        ({ concurrency, nextTakeAt } = taken);
        taken.items.forEach(begin);
      }
      if (inFlight.size === 0 && results.length === 0) break;
      await untilNextStep();
    }
  } finally {
    await Promise.all(inFlight);
  }
  if (failure) throw failure.reason;
}
