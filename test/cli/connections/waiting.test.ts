import { inParallel } from '../../../cli/connections/waiting';

test('inParallel returns the results in the order of its arguments', async () => {
  expect(await inParallel(Promise.resolve('one'), 2, null)).toEqual(['one', 2, null]);
});

test('if several promises reject, inParallel throws the first error in the order of its arguments', async () => {
  const second = Promise.reject(new Error('second'));
  const first = second.catch(() => {
    throw new Error('first');
  });
  await expect(inParallel(first, second)).rejects.toThrow('first');
});
