import { inLanes } from '../../activities/lanes';
import { until } from '../support/conditions';

/** Items that are under way until they are told to end. */
function handled() {
  const begun: number[] = [];
  const ends = new Map<number, { end: () => void; fail: (reason: Error) => void }>();
  return {
    begun,
    handle: (item: number) =>
      new Promise<number>((resolve, reject) => {
        begun.push(item);
        ends.set(item, { end: () => resolve(item), fail: reject });
      }),
    end: (...items: readonly number[]) => items.forEach((item) => ends.get(item)?.end()),
    fail: (item: number, message: string) => ends.get(item)?.fail(new Error(message)),
  };
}

/** Takes once, and nothing more. */
function once(items: readonly number[], lanes: number) {
  let left = items;
  return async () => {
    const taken = left;
    left = [];
    return { items: taken, lanes };
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what waits for a lane begins as soon as one is free, before anything is written or taken', async () => {
  const { begun, handle, end } = handled();
  const written: number[] = [];
  const moving = inLanes<number, number>({
    take: once([1, 2, 3, 4, 5, 6], 4),
    ahead: true,
    handle,
    write: async (done) => {
      written.push(...done);
      return true;
    },
  });
  await until(() => begun.length === 4);
  end(2);
  await settled();
  expect({ begun, written }).toEqual({ begun: [1, 2, 3, 4, 5], written: [] });
  end(1, 3, 4, 5);
  await until(() => begun.length === 6);
  end(6);
  await moving;
  expect(written.sort()).toEqual([1, 2, 3, 4, 5, 6]);
});

test('lanes are full while more is taken, where items may wait', async () => {
  const { begun, handle, end } = handled();
  const askedWith: number[] = [];
  let taken = 0;
  const moving = inLanes<number, number>({
    take: async (underWay) => {
      askedWith.push(underWay);
      const size = Math.min(12 - taken, 6 - underWay);
      const items = Array.from({ length: size }, () => (taken += 1));
      return { items, lanes: 4 };
    },
    ahead: true,
    handle,
    write: async () => true,
  });
  await until(() => begun.length === 4);
  end(1, 2);
  await until(() => askedWith.length === 2);
  // Those two were written down, and the two that had waited are under way in their place.
  expect({ begun, askedWith }).toEqual({ begun: [1, 2, 3, 4, 5, 6], askedWith: [0, 4] });
  for (let item = 3; item <= 12; item += 1) {
    await until(() => begun.includes(item));
    end(item);
  }
  await moving;
  expect(begun).toHaveLength(12);
});

test('without that, half of the lanes are free before more is taken', async () => {
  const { begun, handle, end } = handled();
  const [askedWith, written]: [number[], number[]] = [[], []];
  const moving = inLanes<number, number>({
    take: async (underWay) => {
      askedWith.push(underWay);
      return { items: begun.length === 0 ? [1, 2, 3, 4] : [], lanes: 4 };
    },
    handle,
    write: async (done) => {
      written.push(...done);
      return true;
    },
  });
  await until(() => begun.length === 4);
  end(1);
  await until(() => written.length === 1);
  await settled();
  expect(askedWith).toEqual([0]);
  end(2);
  await until(() => askedWith.length === 2);
  expect(askedWith).toEqual([0, 2]);
  end(3, 4);
  await moving;
});

test('what waits is left as it is when a write says that it is over; what is under way is written down', async () => {
  const { begun, handle, end } = handled();
  const written: number[] = [];
  const moving = inLanes<number, number>({
    take: once([1, 2, 3, 4, 5, 6, 7, 8], 2),
    ahead: true,
    handle,
    write: async (done) => {
      written.push(...done);
      return false;
    },
  });
  await until(() => begun.length === 2);
  end(1);
  await until(() => written.length === 1);
  expect(begun).toEqual([1, 2, 3]);
  end(2, 3);
  await moving;
  expect({ begun, written: written.sort() }).toEqual({ begun: [1, 2, 3], written: [1, 2, 3] });
});

test.each([
  ['handling', (work: ReturnType<typeof handled>) => work.fail(1, 'broken'), async () => true],
  ['writing', (work: ReturnType<typeof handled>) => work.end(1), async () => Promise.reject(new Error('broken'))],
])('what waits is left as it is when %s fails, and what is under way ends first', async (_, breakIt, write) => {
  const work = handled();
  let over = false;
  const moving = inLanes<number, number>({ take: once([1, 2, 3, 4], 2), ahead: true, handle: work.handle, write })
    .catch((error: Error) => error.message)
    .finally(() => {
      over = true;
    });
  await until(() => work.begun.length === 2);
  breakIt(work);
  await settled();
  expect(over).toBe(false);
  work.end(...work.begun);
  await until(() => over);
  expect(await moving).toBe('broken');
  expect(work.begun).not.toContain(4);
});
