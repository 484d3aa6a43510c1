import { figureOf, median } from '../../bench/figures';

test.each([
  [{ atLeast: 1_000 }, 1_000, '>= 1000', true],
  [{ atLeast: 1_000 }, 999, '>= 1000', false],
  [{ atMost: 0.01 }, 0.01, '<= 0.01', true],
  [{ atMost: 0.01 }, 0.0101, '<= 0.01', false],
])('a goal of %j is judged at its edge: %d', (goal, value, said, met) => {
  expect(figureOf({ name: 'any', value, unit: 'ms', goal })).toEqual({ value, goal: said, met, unit: 'ms' });
});

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the median of %j is %d', (values, middle) => expect(median(values)).toBe(middle));
