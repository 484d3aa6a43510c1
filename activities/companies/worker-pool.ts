/** Work in lanes that do not wait for one another; what is next is taken, and what is done is written down, in groups. */

export interface WorkerPoolOptions<Item, Done> {
  /**
   * Takes what is next. None: there is nothing now; it is asked again when something else is done, and not any more when
   * nothing is under way.
   *
   * @param underWay so many lanes are busy
   */
  readonly take: (underWay: number) => Promise<Taken<Item>>;
  readonly handle: (item: Item) => Promise<Done>;
  /** @returns false: nothing more is taken */
  readonly write: (done: readonly Done[]) => Promise<boolean>;
}

interface Taken<Item> {
  readonly items: readonly Item[];
  /** So many lanes there are now. */
  readonly lanes: number;
}

/** What is done waits no longer for others to be written down with. */
const WRITE_WITHIN_MS = 200;

/**
 * Handles item after item until none is left. Whatever was begun is handled to its end, and written down.
 *
 * @throws what `handle`, `take` or `write` threw first
 */
export async function runWorkerPool<Item, Done>({ take, handle, write }: WorkerPoolOptions<Item, Done>): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let done: Done[] = [];
  let lanes = 1;
  let over = false;
  let broken: { readonly reason: unknown } | undefined;
  let look = (): void => undefined;

  function begin(item: Item): void {
    const lane = handle(item)
      .then(
        (what) => void done.push(what),
        (reason: unknown) => void (broken ??= { reason }),
      )
      .finally(() => {
        underWay.delete(lane);
        look();
      });
    underWay.add(lane);
  }

  /** Half of the lanes have ended, or a moment has passed since one did: small groups would cost a statement each. */
  async function worthWriting(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      look = () => {
        if (underWay.size === 0 || done.length >= lanes / 2) resolve();
        else if (done.length > 0) timer ??= setTimeout(resolve, WRITE_WITHIN_MS);
      };
      look();
    });
    clearTimeout(timer);
  }

  try {
    for (;;) {
      const written = done;
      done = [];
      if (written.length > 0 && !(await write(written))) over = true;
      if (!over && !broken && underWay.size <= lanes / 2) {
        // What was done meanwhile and is not written down yet is under way as well.
        const taken = await take(underWay.size + done.length);
        lanes = taken.lanes;
        taken.items.forEach(begin);
      }
      if (underWay.size === 0 && done.length === 0) break;
      await worthWriting();
    }
  } finally {
    await Promise.all(underWay);
  }
  if (broken) throw broken.reason;
}
