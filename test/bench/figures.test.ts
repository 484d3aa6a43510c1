import { figureOf, median, type Measured } from '../../bench/figures';

test.each<[NonNullable<Measured['goal']>, number, string, boolean]>([
  [['>=', 0.95], 0.95, '>= 0.95', true],
  [['>=', 0.95], 0.949_99, '>= 0.95', false],
  [['<=', 30], 30, '<= 30', true],
  [['<=', 30], 30.000_1, '<= 30', false],
  [['<', 300], 299.999_9, '< 300', true],
  [['<', 300], 300, '< 300', false],
])('the goal %j is compared with %d without rounding', (goal, value, printed, met) => {
  expect(figureOf({ name: 'any', value, unit: 'ms', goal })).toEqual({ value, goal: printed, met, unit: 'ms' });
});

test('a figure without a goal says neither that a goal is met nor that it is missed', () => {
  expect(figureOf({ name: 'any', value: 1, unit: 'ms' })).toEqual({ value: 1, goal: null, met: null, unit: 'ms' });
});

test('a value that could not be measured meets no goal', () => {
  for (const goal of [['>=', 1] as const, ['<=', 1] as const, ['<', 1] as const]) {
    expect(figureOf({ name: 'any', value: Number.NaN, unit: 'ms', goal }).met).toBe(false);
  }
});

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the median of %j is %d', (values, expected) => expect(median(values)).toBe(expected));
