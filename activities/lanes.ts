/** Work in lanes that do not wait for one another; what is next is taken, and what is done is written down, in groups. */

export interface LaneWork<Item, Done> {
  /**
   * Takes what is next. None: there is nothing now; it is asked again when something else is done, and not any more when
   * nothing is under way. Of more items than lanes are free the others wait for one.
   *
   * @param underWay so many were taken and are not written down yet
   */
  readonly take: (underWay: number) => Promise<Taken<Item>>;
  /**
   * Items may wait for a lane, and may be left as they are in the end: they are taken before a lane is free, so that none
   * stands still meanwhile. Otherwise half of the lanes stand still before they are filled again.
   */
  readonly ahead?: boolean;
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
export async function inLanes<Item, Done>(work: LaneWork<Item, Done>): Promise<void> {
  const { take, ahead = false, handle, write } = work;
  const underWay = new Set<Promise<void>>();
  let waiting: Item[] = [];
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
        fill();
        look();
      });
    underWay.add(lane);
  }

  function fill(): void {
    if (ahead && (over || broken)) waiting = [];
    waiting.splice(0, lanes - underWay.size).forEach(begin);
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
      const busy = underWay.size + waiting.length;
      if (!over && !broken && busy <= (ahead ? lanes : lanes / 2)) {
        const taken = await take(busy + done.length);
        lanes = taken.lanes;
        waiting.push(...taken.items);
      }
      fill();
      if (underWay.size === 0 && done.length === 0) break;
      await worthWriting();
    }
  } finally {
    waiting = [];
    await Promise.all(underWay);
  }
  if (broken) throw broken.reason;
}
