import fc from 'fast-check';
import { ASSUMED_SPEED, estimate } from '../../domain/estimate';

const SPEED = { importMs: 1_000, syncBaseMs: 10_000, msPerRecord: 10 };
const volume = (companies: number, records: number, companiesWithoutVolume = 0) => ({
  companies,
  records,
  companiesWithoutVolume,
});

test('companies are imported side by side, and the longest sync is waited for once', () => {
  // 3 rounds of 1 s, then 10 s and 100 records of 10 ms: 14 s.
  const { lowMs, highMs } = estimate(volume(25, 2_500), 10, SPEED, true);
  expect({ lowMs, highMs }).toEqual({ lowMs: Math.round(14_000 / 1.5), highMs: 21_000 });
});

test('a guess is given more room than a measurement', () => {
  const [guessed, measured] = [false, true].map((known) => estimate(volume(25, 2_500), 10, SPEED, known));
  expect(guessed).toMatchObject({ lowMs: Math.round(14_000 / 3), highMs: 42_000, measured: false });
  expect(measured?.measured).toBe(true);
});

test('where the manifest says nothing, a thousand records are assumed', () => {
  expect(estimate(volume(2, 0, 2), 8, SPEED, true)).toMatchObject(
    (({ lowMs, highMs }) => ({ lowMs, highMs }))(estimate(volume(2, 2_000), 8, SPEED, true)),
  );
});

test('hours without fresh data are rounded up, to a tenth', () => {
  expect(estimate(volume(1, 0), 1, { importMs: 0, syncBaseMs: 361_000, msPerRecord: 0 }, true).darkHours).toBe(0.2);
});

test('a range is never upside down, never negative, and more companies never take less', () => {
  const size = fc.integer({ min: 0, max: 50_000 });
  fc.assert(
    fc.property(
      size,
      size,
      fc.integer({ min: 0, max: 500 }),
      fc.boolean(),
      (companies, perCompany, atOnce, measured) => {
        const of = (count: number) => estimate(volume(count, count * perCompany), atOnce, ASSUMED_SPEED, measured);
        const { lowMs, highMs, darkHours } = of(companies);
        expect(lowMs).toBeGreaterThanOrEqual(0);
        expect(highMs).toBeGreaterThanOrEqual(lowMs);
        expect(Number.isFinite(darkHours)).toBe(true);
        if (companies > 0) expect(of(companies + 1).highMs).toBeGreaterThanOrEqual(highMs);
      },
    ),
  );
});
