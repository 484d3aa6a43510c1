import { inChunks } from '../../../domain/text/streams';

async function all<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

test.each([
  [[], []],
  [[1], [[1]]],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4, 5],
    [[1, 2], [3, 4], [5]],
  ],
])('%j is split into chunks of two: %j', async (items, chunks) =>
  expect(await all(inChunks(items, 2))).toEqual(chunks),
);

test('a stream is read one chunk at a time', async () => {
  let taken = 0;
  function* endless(): Generator<number> {
    for (;;) yield (taken += 1);
  }
  const chunks = inChunks(endless(), 100);
  await chunks.next();
  expect(taken).toBe(100);
  await chunks.next();
  expect(taken).toBe(200);
});
