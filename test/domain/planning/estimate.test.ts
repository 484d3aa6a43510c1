import fc from 'fast-check';
import {
  ASSUMED_SPEED,
  approvedEnds,
  estimate,
  speedFrom,
  volumeOf,
  type EstimateInput,
  type SpeedEstimate,
  type Measurement,
  type Volume,
} from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { pollsDuring } from '../../../domain/planning/pacing';
import type { Window } from '../../../domain/planning/windows';

const SPEED = { importMs: 1_000, syncBaseMs: 10_000, msPerRecord: 10 };
const MEASURED: SpeedEstimate = { speed: SPEED, basis: 'migration', companies: 20 };
const FROM = '2026-03-02T20:00:00.000Z';

const volume = (companies: number, records: number, changes: Partial<Volume> = {}): Volume => ({
  companies,
  records,
  companiesWithoutVolume: 0,
  largestCompany: companies === 0 ? 0 : Math.ceil(records / companies),
  largestFamily: 0,
  staleSince: null,
  ...changes,
});

const tenAtOnce = { ...DEFAULT_LIMITS, slicesAtOnce: 2, companiesPerSliceAtOnce: 5 };
const estimated = (of: Volume, changes: Partial<EstimateInput> = {}) =>
  estimate({ volume: of, limits: tenAtOnce, speedEstimate: MEASURED, from: FROM, ...changes });

test('companies are imported in parallel, and only the longest sync is added', () => {
  // 3 rounds of 1 s, then a sync of 10 s plus 100 records of 10 ms each: 14 s.
  const { lowMs, highMs, ends } = estimated(volume(25, 2_500));
  expect({ lowMs, highMs }).toEqual({ lowMs: Math.round(14_000 / 1.5), highMs: 21_000 });
  expect(ends).toEqual({ earliest: '2026-03-02T20:00:09.333Z', latest: '2026-03-02T20:00:21.000Z' });
});

test('the sync of the largest company determines the end', () => {
  const { highMs } = estimated(volume(25, 2_500, { largestCompany: 1_000 }));
  expect(highMs).toBe((3_000 + 10_000 + 10_000) * 1.5);
});

test('companies of one token family are imported one at a time', () => {
  // 25 rounds instead of 3.
  expect(estimated(volume(25, 2_500, { largestFamily: 25 })).highMs).toBe((25_000 + 11_000) * 1.5);
});

test('a configured limit on companies per minute and the rate limit of the service make the estimate longer', () => {
  const paced = { ...tenAtOnce, companiesPerMinute: 10 };
  expect(estimated(volume(20, 0), { limits: paced }).highMs).toBe((120_000 + 10_000) * 1.5);
  const { requests, highMs } = estimated(volume(10_000, 0));
  expect(requests).toBe(10_000 * (6 + 2 * pollsDuring(10_000)));
  expect(highMs).toBe((requests - 1_000) * 60 * 1.5);
});

test('the range does not begin before all companies can have moved at the configured limit', () => {
  const paced = { ...tenAtOnce, companiesPerMinute: 10 };
  const { lowMs, ends } = estimated(volume(20, 0), { limits: paced });
  expect(lowMs).toBe(120_000 + Math.round(10_000 / 1.5));
  expect(ends?.earliest).toBe('2026-03-02T20:02:06.666Z');
});

test('an assumption gives the widest range, a measurement the narrowest', () => {
  const highOf = (basis: SpeedEstimate['basis']) =>
    estimated(volume(25, 2_500), { speedEstimate: { speed: SPEED, basis, companies: 5 } });
  expect(highOf('assumed')).toMatchObject({ lowMs: Math.round(14_000 / 3), highMs: 42_000, basis: 'assumed' });
  expect(highOf('platform')).toMatchObject({ lowMs: 7_000, highMs: 28_000, basis: 'platform', measuredOn: 5 });
  expect(highOf('migration')).toMatchObject({ highMs: 21_000, basis: 'migration' });
});

test('a speed that was measured on few companies is as uncertain as an assumption', () => {
  const few = estimated(volume(25, 2_500), { speedEstimate: { ...MEASURED, companies: 4 } });
  expect(few).toMatchObject({ lowMs: Math.round(14_000 / 3), highMs: 42_000, basis: 'migration', measuredOn: 4 });
});

describe('once as many companies have moved as can be imported at once', () => {
  const throughput = { moved: 860, withinMs: 600_000 };
  const measuredAt = (changes: Partial<EstimateInput> = {}) => estimated(volume(2_580, 0), { throughput, ...changes });

  test('the imports go on at their throughput, whatever the number of requests', () => {
    // 2,580 companies at 86 a minute, then a sync of 10 s. The requests alone would take longer.
    expect(estimated(volume(2_580, 0)).highMs).toBeGreaterThan(46 * 60_000);
    expect(measuredAt().highMs).toBe((30 * 60_000 + 10_000) * 1.5);
    expect(measuredAt().lowMs).toBe(Math.round((30 * 60_000 + 10_000) / 1.5));
  });

  test('a limit on companies per minute that was set later counts', () => {
    const paced = { ...tenAtOnce, companiesPerMinute: 43 };
    expect(measuredAt({ limits: paced }).highMs).toBe((60 * 60_000 + 10_000) * 1.5);
  });

  test('a token family that takes longer determines the end', () => {
    expect(measuredAt({ volume: volume(2_580, 0, { largestFamily: 2_580 }) }).highMs).toBe((2_580_000 + 10_000) * 1.5);
  });

  test('the throughput of a smaller wave does not count', () => {
    expect(measuredAt({ throughput: { moved: 9, withinMs: 240_000 } })).toEqual(estimated(volume(2_580, 0)));
  });
});

test('a thousand records are assumed for a company without a number in the manifest', () => {
  const unknown = estimated(volume(2, 0, { companiesWithoutVolume: 2 }));
  const known = estimated(volume(2, 2_000));
  expect({ ...unknown, volume: null }).toEqual({ ...known, volume: null });
});

describe('with windows', () => {
  const nights: Window = { days: ['mon', 'tue'], from: '22:00', to: '23:00', timeZone: 'UTC' };
  const hour = 3_600_000;
  // 100 companies take 10 rounds of 6 minutes: an hour of imports, then a minute of syncs.
  const speedEstimate: SpeedEstimate = {
    speed: { importMs: 360_000, syncBaseMs: 60_000, msPerRecord: 0 },
    basis: 'migration',
    companies: 9,
  };

  test('the range is working time, the end includes closed hours, and syncs continue outside windows', () => {
    // 2026-03-02 is a Monday. The high estimate of the imports is 1.5 hours: all of Monday's window and half of
    // Tuesday's.
    const made = estimated(volume(100, 0), { speedEstimate, limits: { ...tenAtOnce, windows: [nights] } });
    expect(made.highMs).toBe(1.5 * hour + 90_000);
    expect(made.ends).toEqual({ earliest: '2026-03-02T22:40:40.000Z', latest: '2026-03-03T22:31:30.000Z' });
    expect(made.staleHours).toBeCloseTo(26.525, 9);
  });

  test('a migration that takes more than a year has no estimated end', () => {
    const made = estimated(volume(100_000, 0), { speedEstimate, limits: { ...tenAtOnce, windows: [nights] } });
    expect(made).toMatchObject({ ends: null, staleHours: null });
  });
});

test('hours of out-of-date data are counted from the freeze and not rounded', () => {
  const slow: SpeedEstimate = { ...MEASURED, speed: { importMs: 0, syncBaseMs: 241_000, msPerRecord: 0 } };
  expect(estimated(volume(1, 0), { speedEstimate: slow }).staleHours).toBeCloseTo(361_500 / 3_600_000, 9);
  const frozen = volume(1, 0, { staleSince: '2026-03-02T17:00:00.000Z' });
  expect(estimated(frozen, { speedEstimate: slow }).staleHours).toBeCloseTo(3 + 361_500 / 3_600_000, 9);
});

test('the approved ends are rounded up to full minutes, and data is out of date until the rounded end', () => {
  const made = estimated(volume(1, 0));
  const ends = { earliest: '2026-03-02T23:06:10.000Z', latest: '2026-03-02T23:10:20.000Z' };
  expect(approvedEnds({ startAt: FROM, estimate: { ...made, ends, staleHours: 10 / 60 } })).toEqual({
    earliest: '2026-03-02T23:07:00.000Z',
    latest: '2026-03-02T23:11:00.000Z',
    staleHours: expect.closeTo(640 / 3_600, 9) as number,
  });
  expect(approvedEnds({ startAt: FROM, estimate: { ...made, ends: null, staleHours: null } })).toBeNull();
});

test('hours that an earlier worker stored rounded up are counted again from the start or the first confirmation', () => {
  const made = estimated(volume(1, 0));
  const ends = { earliest: '2026-03-02T20:10:00.000Z', latest: '2026-03-02T20:30:20.000Z' };
  const stored = { startAt: FROM, estimate: { ...made, ends, staleHours: 0.6 } };
  expect(approvedEnds(stored)?.staleHours).toBeCloseTo(31 / 60, 9);
  const confirmed = volume(1, 0, { staleSince: '2026-03-02T19:00:00.000Z' });
  const earlier = { startAt: FROM, estimate: { ...made, volume: confirmed, ends, staleHours: 1.6 } };
  expect(approvedEnds(earlier)?.staleHours).toBeCloseTo(91 / 60, 9);
});

test('a migration without remaining companies takes no time', () => {
  expect(estimated(volume(0, 0))).toMatchObject({ lowMs: 0, highMs: 0, requests: 0, staleHours: 0 });
});

test('a range is never negative, its ends are in order, and more companies never take less time', () => {
  const size = fc.integer({ min: 0, max: 50_000 });
  fc.assert(
    fc.property(
      size,
      size,
      fc.integer({ min: 1, max: 64 }),
      fc.boolean(),
      (companies, perCompany, slices, measured) => {
        const speedEstimate = measured ? MEASURED : ASSUMED_SPEED;
        const limits = { ...DEFAULT_LIMITS, slicesAtOnce: slices };
        const of = (count: number) => estimated(volume(count, count * perCompany), { speedEstimate, limits });
        const { lowMs, highMs, staleHours, ends } = of(companies);
        expect(lowMs).toBeGreaterThanOrEqual(0);
        expect(highMs).toBeGreaterThanOrEqual(lowMs);
        expect(staleHours).toBeGreaterThanOrEqual(0);
        expect((ends?.earliest ?? '') <= (ends?.latest ?? '')).toBe(true);
        if (companies > 0) expect(of(companies + 1).highMs).toBeGreaterThanOrEqual(highMs);
      },
    ),
  );
});

describe('the measured speed', () => {
  const measurement = (changes: Partial<Measurement>): Measurement => ({
    companies: 20,
    importMs: 800,
    syncMs: 30_000,
    records: 1_000,
    base: 20_000,
    slope: 10,
    ...changes,
  });

  test('is the regression line if there is one', () => {
    expect(speedFrom(measurement({}), SPEED)).toEqual({ importMs: 800, syncBaseMs: 20_000, msPerRecord: 10 });
  });

  test.each<[string, Partial<Measurement>]>([
    ['one company', { companies: 1, base: null, slope: null }],
    ['too few companies for a line', { companies: 9 }],
    ['companies of one size', { base: null, slope: null }],
    ['a falling line', { base: 50_000, slope: -1 }],
  ])('is the scaled previous speed in the case of %s', (_, changes) => {
    // Expected: 10 s and 1,000 records of 10 ms, 20 s in total. Measured: 30 s.
    expect(speedFrom(measurement(changes), SPEED)).toEqual({ importMs: 800, syncBaseMs: 15_000, msPerRecord: 15 });
  });
});

describe('the volume of a manifest', () => {
  const manifest = { companies: 3, records: 10, companiesWithoutVolume: 2, largestCompany: 10, largestFamily: 0 };

  test.each([
    [undefined, { records: 10, companiesWithoutVolume: 2 }],
    [400, { records: 400, companiesWithoutVolume: 0 }],
    // The rows contain more records than the total, so their sum is used.
    [4, { records: 10, companiesWithoutVolume: 0 }],
  ])('is computed from a total of %s and the rows that give a number', (total, volume) => {
    expect(volumeOf(manifest, total)).toEqual({ ...manifest, ...volume, staleSince: null });
  });

  test('ignores a total if all rows give a number', () => {
    expect(volumeOf({ ...manifest, companiesWithoutVolume: 0 }, 400).records).toBe(10);
  });
});
