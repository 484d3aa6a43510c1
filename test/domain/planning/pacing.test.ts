import fc from 'fast-check';
import { paceOf } from '../../../domain/planning/pacing';

const MINUTE_MS = 60_000;
const limits = fc.record({
  slicesAtOnce: fc.integer({ min: 1, max: 64 }),
  companiesPerSliceAtOnce: fc.integer({ min: 1, max: 500 }),
  companiesPerMinute: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1_000_000 })),
});

test('all slices together keep to the rate, there is at least one slice, and no slice waits more than a minute in total', () => {
  fc.assert(
    fc.property(limits, (changes) => {
      const { slices, companies, waitMs } = paceOf(changes);
      expect((slices * MINUTE_MS) / waitMs).toBeCloseTo(changes.companiesPerMinute);
      expect(waitMs).toBeLessThanOrEqual(MINUTE_MS);
      expect(slices).toBeGreaterThanOrEqual(1);
      expect(slices).toBeLessThanOrEqual(changes.slicesAtOnce);
      expect(companies).toBeGreaterThanOrEqual(1);
      expect(companies).toBeLessThanOrEqual(changes.companiesPerSliceAtOnce);
    }),
  );
});

test('a low rate uses no more slices than it needs', () => {
  const slicesAt = (companiesPerMinute: number) =>
    paceOf({ slicesAtOnce: 4, companiesPerSliceAtOnce: 8, companiesPerMinute }).slices;
  expect([1, 8, 10, 17, 25, 200].map(slicesAt)).toEqual([1, 1, 2, 3, 4, 4]);
});

test('moves begin evenly over the minute: only those that are due within about a second begin together', () => {
  fc.assert(
    fc.property(limits, (changes) => {
      const { companies, waitMs } = paceOf(changes);
      expect((companies - 1) * waitMs).toBeLessThan(1_000);
    }),
  );
  const atRate = (companiesPerMinute: number) =>
    paceOf({ slicesAtOnce: 4, companiesPerSliceAtOnce: 8, companiesPerMinute });
  expect(atRate(5)).toEqual({ slices: 1, companies: 1, waitMs: 12_000 });
  expect(atRate(600)).toEqual({ slices: 4, companies: 3, waitMs: 400 });
});

test('no slice waits if there is no rate', () => {
  const withoutRate = { slicesAtOnce: 4, companiesPerSliceAtOnce: 8, companiesPerMinute: null };
  expect(paceOf(withoutRate)).toEqual({ slices: 4, companies: 8, waitMs: 0 });
});
