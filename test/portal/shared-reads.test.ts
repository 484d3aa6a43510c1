import { SharedReads } from '../../portal/server/shared-reads';

interface Read {
  readonly by: string;
  readonly end: (found: object | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** Returns a function that shares reads, and the reads that have begun, which the test ends. */
function slowReads() {
  const begun: Read[] = [];
  const shared = new SharedReads<object>();
  const read = (by: string, key = 'companies') =>
    shared.read(key, () => new Promise((end, fail) => begun.push({ by, end, fail })));
  return { begun, read };
}

test('requests that arrive during a read share the next read, which begins after they have arrived', async () => {
  const { begun, read } = slowReads();
  const [first, second, third] = [read('Cleo'), read('Mia'), read('Finn')];
  expect(begun.map(({ by }) => by)).toEqual(['Cleo']);
  begun[0]?.end({ moved: 1 });
  expect(await first).toEqual({ moved: 1 });
  expect(begun.map(({ by }) => by)).toEqual(['Cleo', 'Mia']);
  begun[1]?.end({ moved: 2 });
  expect(await Promise.all([second, third])).toEqual([{ moved: 2 }, { moved: 2 }]);
  void read('Cleo');
  expect(begun.length).toBe(3);
});

test('a read for one key is not shared with another key', async () => {
  const { begun, read } = slowReads();
  const [one, other] = [read('Cleo', 'one'), read('Mia', 'other')];
  begun[1]?.end({ of: 'other' });
  begun[0]?.end({ of: 'one' });
  expect(await Promise.all([one, other])).toEqual([{ of: 'one' }, { of: 'other' }]);
});

test('a read that fails, or whose session has ended, does not affect other requests', async () => {
  const { begun, read } = slowReads();
  const [first, second, third] = [read('Cleo'), read('Mia'), read('Finn')];
  begun[0]?.fail(new Error('the database is away'));
  await expect(first).rejects.toThrow('away');
  begun[1]?.end(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  // Mia's session has ended, so Mia and Finn each read with their own session.
  expect(begun.map(({ by }) => by)).toEqual(['Cleo', 'Mia', 'Mia', 'Finn']);
  begun[2]?.end(undefined);
  begun[3]?.end({ moved: 3 });
  expect(await Promise.all([second, third])).toEqual([undefined, { moved: 3 }]);
});
