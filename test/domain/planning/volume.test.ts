import { volumeOf } from '../../../domain/planning/volume';

const said = { companies: 3, records: 10, companiesWithoutVolume: 2, largestCompany: 10, largestFamily: 0 };

test.each([
  [undefined, { records: 10, companiesWithoutVolume: 2 }],
  [400, { records: 400, companiesWithoutVolume: 0 }],
  // Less than a row says by itself: the row knows.
  [4, { records: 10, companiesWithoutVolume: 0 }],
])('of a manifest whose rows do not all say it, with %s in total', (total, volume) => {
  expect(volumeOf(said, total)).toEqual({ ...said, ...volume, darkSince: null });
});

test('what the rows say themselves is more than a total', () => {
  expect(volumeOf({ ...said, companiesWithoutVolume: 0 }, 400).records).toBe(10);
});
