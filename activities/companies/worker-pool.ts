/**
 * Worker pool: handles items concurrently, but takes new items and writes results in groups.
 *
 * Groups keep the number of SQL statements small: one statement claims many companies, and one writes many outcomes.
 * No item waits for another one, so a slow company does not delay the rest.
 *
 * ## Modes
 *
 * - FILLING, the initial mode. When at most half of the slots are busy, `take` is called for more items, and each of
 *   them starts at once. If it returns none, it is called again after the next write.
 *   - `write` returned false, or an item failed -> DRAINING.
 *   - `take` returned none, and no item is in flight or unwritten -> ENDED.
 * - DRAINING. No more items are taken. Items in flight run to completion and are written.
 *   - No item is in flight or unwritten -> ENDED.
 * - ENDED. The pool returns, or throws the error of the first item that failed.
 *
 * If `take` or `write` itself throws, the pool waits for the items in flight and throws that error. Results that were
 * not written are lost. The attempt still owns their companies, and the next attempt reclaims them
 * (store/companies/lease.ts).
 *
 * ## When results are written
 *
 * Results are written as soon as one of these is true: half of the slots have a result, the oldest result has waited
 * for 200 ms, or no item is in flight. After every write, items are taken if at most half of the slots are busy, so
 * slots are also filled in groups.
 */

export interface WorkerPoolOptions<Item, Result> {
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

  async function untilWorthWriting(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      onItemEnd = () => {
        if (inFlight.size === 0 || results.length >= concurrency / 2) resolve();
        else if (results.length > 0) timer ??= setTimeout(resolve, WRITE_WITHIN_MS);
      };
      onItemEnd();
    });
    clearTimeout(timer);
  }

  try {
    for (;;) {
      const group = results;
      results = [];
      if (group.length > 0 && !(await write(group))) isDraining = true;
      if (!isDraining && !failure && inFlight.size <= concurrency / 2) {
        // Results that arrived during the write still occupy their slots.
        const taken = await take(inFlight.size + results.length);
        concurrency = taken.concurrency;
        taken.items.forEach(begin);
      }
      if (inFlight.size === 0 && results.length === 0) break;
      await untilWorthWriting();
    }
  } finally {
    await Promise.all(inFlight);
  }
  if (failure) throw failure.reason;
}
