import { inGroups } from '../../../domain/text/groups';

async function all<T>(groups: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const group of groups) list.push(group);
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
])('%j in groups of two', async (items, groups) => expect(await all(inGroups(items, 2))).toEqual(groups));

test('of what has no end, one group is taken at a time', async () => {
  let taken = 0;
  function* endless(): Generator<number> {
    for (;;) yield (taken += 1);
  }
  const groups = inGroups(endless(), 100);
  await groups.next();
  expect(taken).toBe(100);
  await groups.next();
  expect(taken).toBe(200);
});
