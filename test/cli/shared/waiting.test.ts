/** Tests the functions that wait for several things at once. */
import { inParallel } from '../../../cli/shared/waiting';

test('results that are waited for together are returned in their order', async () => {
  expect(await inParallel(Promise.resolve('one'), 2, null)).toEqual(['one', 2, null]);
});

test('if several parts fail, the error of the first one in the list is thrown, whichever failed first', async () => {
  const second = Promise.reject(new Error('second'));
  const first = second.catch(() => {
    throw new Error('first');
  });
  await expect(inParallel(first, second)).rejects.toThrow('first');
});
