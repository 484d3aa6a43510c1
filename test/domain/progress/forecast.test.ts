import type { Counts } from '../../../domain/companies/counts';
import fc from 'fast-check';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { STEPS } from '../../../domain/migration/steps';
import { ASSUMED_SPEED, approvedEnds, estimate, type Estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Throughput } from '../../../domain/planning/throughput';
import type { Window } from '../../../domain/planning/windows';
import { forecastOf, remainingWork } from '../../../domain/progress/forecast';
import { progressOf } from '../../../domain/progress/progress';
import { AT, START_AT, counts, firstCompany, migrationPlan, stateAt } from '../../support/migrations/migration-states';

const NIGHT: Window = { days: ['sat', 'mon'], from: '22:00', to: '04:00', timeZone: 'UTC' };
const HOUR_MS = 3_600_000;

const estimateFor = (companies: number, changes: Partial<Estimate> = {}): Estimate => ({
  ...estimate({
    volume: { companies, records: 0, companiesWithoutVolume: 0, largestCompany: 0, largestFamily: 0, staleSince: null },
    limits: DEFAULT_LIMITS,
    speedEstimate: ASSUMED_SPEED,
    from: START_AT,
  }),
  ...{ lowMs: 10 * 60_000, highMs: 60 * 60_000 },
  ends: { earliest: '2026-03-07T20:10:00.000Z', latest: '2026-03-07T21:00:00.000Z' },
  ...changes,
});

const of = (state: MigrationState, now: string, throughput: Throughput | null = null) =>
  forecastOf(progressOf(migrationPlan(), state), throughput, now);

const SCHEDULED = stateAt('update-application', { estimate: estimateFor(10) });
const MOVING = stateAt('complete-migration', {
  estimate: estimateFor(10),
  counts: counts({ total: 10, moved: 5, waiting: 4, syncing: 1 }),
});
const NOW = '2026-03-07T20:30:20.000Z';
const TEN_IN_TEN_MINUTES = { moved: 10, withinMs: 10 * 60_000 };

test('before the agreed start, the forecast is the estimate counted from that start', () => {
  expect(of(SCHEDULED, AT)).toEqual({
    companies: 10,
    isComplete: true,
    beginsAt: START_AT,
    ends: { earliest: '2026-03-07T20:10:00.000Z', latest: '2026-03-07T21:00:00.000Z' },
    basis: 'estimate',
    staleMs: HOUR_MS,
  });
});

test('the report plans the ends and the hours that the forecast showed when both sides approved the start', () => {
  const ends = { earliest: '2026-03-07T20:06:10.000Z', latest: '2026-03-07T20:10:20.000Z' };
  const planned = estimateFor(10, { ends, staleHours: (10 * 60 + 20) / 3_600 });
  const shown = of(stateAt('update-application', { estimate: planned }), AT);
  const approved = approvedEnds({ startAt: START_AT, estimate: planned });
  expect(shown?.ends).toEqual({ earliest: approved?.earliest, latest: approved?.latest });
  expect([shown?.staleMs, (approved?.staleHours ?? 0) * HOUR_MS]).toEqual([660_000, expect.closeTo(660_000, 6)]);
});

test.each(['supply-details', 'schedule', 'update-application', 'disable-syncing'] as const)(
  'if the agreed start has passed while step %s is open, there is no forecast, only the duration of the work',
  (step) => {
    const late = stateAt(step, { estimate: estimateFor(10), proposal: SCHEDULED.proposal });
    expect(of(late, AT)).not.toBeNull();
    expect(of(late, START_AT)).toBeNull();
    expect(remainingWork(progressOf(migrationPlan(), late))).toEqual({
      companies: 10,
      lowMs: 10 * 60_000,
      highMs: 60 * 60_000,
    });
  },
);

test('a start outside the windows is replaced by the next opening', () => {
  const limits = { ...DEFAULT_LIMITS, windows: [NIGHT] };
  expect(of({ ...SCHEDULED, limits }, AT)).toMatchObject({
    beginsAt: '2026-03-07T22:00:00.000Z',
    ends: { earliest: '2026-03-07T22:10:00.000Z', latest: '2026-03-07T23:00:00.000Z' },
  });
});

test('after the start, the first company is forecast from the next window, and nothing once it has a result', () => {
  const ready = stateAt('migrate-first-company', {
    limits: { ...DEFAULT_LIMITS, windows: [NIGHT] },
    estimate: estimateFor(10),
    counts: counts({ total: 10, waiting: 10 }),
  });
  expect(of(ready, NOW)).toMatchObject({ beginsAt: '2026-03-07T22:00:00.000Z', isComplete: true });
  expect(of({ ...ready, firstCompany: firstCompany() }, NOW)).toBeNull();
});

test('while companies move, the forecast is the recent throughput, in full minutes', () => {
  // Five companies are still to be moved, at one per minute.
  expect(of(MOVING, NOW, TEN_IN_TEN_MINUTES)).toMatchObject({
    ...{ companies: 5, isComplete: true, beginsAt: null, basis: 'throughput' },
    ends: { earliest: '2026-03-07T20:36:00.000Z', latest: '2026-03-07T20:36:00.000Z' },
  });
});

test.each([[null], [{ moved: 0, withinMs: 600_000 }]])(
  'without a recent throughput (%j), the forecast is the estimate scaled to the remaining companies',
  (throughput) => {
    expect(of(MOVING, NOW, throughput)).toMatchObject({
      basis: 'estimate',
      ends: { earliest: '2026-03-07T20:36:00.000Z', latest: '2026-03-07T21:01:00.000Z' },
    });
  },
);

test('the forecast says that other companies are open if some companies wait for people', () => {
  const others = { ...MOVING, counts: counts({ total: 10, moved: 5, waiting: 5, unconfirmed: 2 }) };
  expect(of(others, NOW, TEN_IN_TEN_MINUTES)).toMatchObject({ companies: 3, isComplete: false });
});

test('companies that are importing when the window closes are moved outside the windows too', () => {
  const importing = {
    ...MOVING,
    limits: { ...DEFAULT_LIMITS, windows: [NIGHT] },
    counts: counts({ total: 10, moved: 5, importing: 2, syncing: 3 }),
  };
  expect(of(importing, NOW, TEN_IN_TEN_MINUTES)).toMatchObject({
    beginsAt: null,
    ends: { latest: '2026-03-07T20:36:00.000Z' },
  });
  const others = { ...importing, counts: counts({ total: 10, moved: 5, importing: 2, waiting: 3 }) };
  expect(of(others, NOW, TEN_IN_TEN_MINUTES)?.ends?.latest).toBe('2026-03-07T22:05:00.000Z');
});

test('companies that are only syncing are verified outside the windows too', () => {
  const syncing = {
    ...MOVING,
    limits: { ...DEFAULT_LIMITS, windows: [NIGHT] },
    counts: counts({ total: 10, moved: 5, syncing: 5 }),
  };
  expect(of(syncing, NOW, TEN_IN_TEN_MINUTES)?.ends?.latest).toBe('2026-03-07T20:36:00.000Z');
  const waiting = { ...syncing, counts: counts({ total: 10, moved: 5, waiting: 5 }) };
  expect(of(waiting, NOW, TEN_IN_TEN_MINUTES)).toMatchObject({
    beginsAt: '2026-03-07T22:00:00.000Z',
    ends: { latest: '2026-03-07T22:05:00.000Z' },
  });
});

test.each<[string, Partial<MigrationState>]>([
  ['is paused', { pause: { reason: 'holiday', by: 'Sam', stopReason: null, at: AT } }],
  ['waits for an outage to end', { outage: { why: 'answered 503', since: AT, until: START_AT } }],
  ['has ended', { closed: 'completed' }],
  ['has nothing left to move', { counts: counts({ total: 10, moved: 10 }) }],
  ['only has companies that wait for people', { counts: counts({ total: 10, moved: 5, waiting: 5, unconfirmed: 5 }) }],
])('there is no forecast if the migration %s', (_, changes) => {
  expect(of({ ...MOVING, ...changes }, NOW, TEN_IN_TEN_MINUTES)).toBeNull();
});

test('data is out of date since the first confirmation, or since step 4 began if its time is not known yet', () => {
  const { volume } = estimateFor(10);
  const known = {
    ...MOVING,
    estimate: estimateFor(10, { volume: { ...volume, staleSince: '2026-03-07T19:36:00.000Z' } }),
  };
  expect(of(known, NOW, TEN_IN_TEN_MINUTES)?.staleMs).toBe(HOUR_MS);
  const since = { openedAt: '2026-03-07T18:36:00.000Z', endedAt: AT };
  const unknown = { ...MOVING, steps: { ...MOVING.steps, 'disable-syncing': since } };
  expect(of(unknown, NOW, TEN_IN_TEN_MINUTES)?.staleMs).toBe(2 * HOUR_MS);
});

test('no forecast ever ends before the moment it is made, or begins after it ends', () => {
  const moment = fc.integer({ min: Date.parse('2026-03-01T00:00:00Z'), max: Date.parse('2026-03-20T00:00:00Z') });
  fc.assert(
    fc.property(
      fc.constantFrom(...STEPS),
      fc.record({ moved: fc.nat(5), waiting: fc.nat(20), syncing: fc.nat(3), unconfirmed: fc.nat(3) }),
      fc.record({ low: fc.nat(10_000_000), more: fc.nat(500_000_000), startAt: moment, endsAt: moment, now: moment }),
      fc.option(fc.record({ moved: fc.nat(100), withinMs: fc.nat(600_000) })),
      fc.boolean(),
      (step, some, times, throughput, hasWindows) => {
        const iso = (ms: number): string => new Date(ms).toISOString();
        const now = iso(times.now);
        const ends = { earliest: iso(times.endsAt), latest: iso(times.endsAt + times.more) };
        const state = stateAt(step, {
          limits: { ...DEFAULT_LIMITS, windows: hasWindows ? [NIGHT] : [] },
          counts: counts({ ...some, total: 40 }),
          proposal: { startAt: iso(times.startAt), role: 'support', by: 'Sam', at: AT },
          estimate: estimateFor(10, { lowMs: times.low, highMs: times.low + times.more, ends }),
        });
        const forecast = of(state, now, throughput);
        if (!forecast?.ends) return;
        const { earliest, latest } = forecast.ends;
        expect(earliest > now && latest >= earliest).toBe(true);
        expect(forecast.staleMs).toBeGreaterThanOrEqual(0);
        if (forecast.beginsAt !== null) expect(forecast.beginsAt > now && earliest >= forecast.beginsAt).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('the forecast applies a limit that has just been lowered', () => {
  const limits = { ...MOVING.limits, companiesPerMinute: 2 };
  const recent = { moved: 46, withinMs: 60_000 };
  expect(of(MOVING, NOW, recent)?.ends?.latest).toBe('2026-03-07T20:31:00.000Z');
  expect(of({ ...MOVING, limits }, NOW, recent)?.ends?.latest).toBe('2026-03-07T20:33:00.000Z');
});

describe('an estimate made before a limit was agreed', () => {
  const quick = estimateFor(30, { lowMs: 4_000, highMs: 8_000, ends: { earliest: START_AT, latest: START_AT } });
  const limits = { ...DEFAULT_LIMITS, companiesPerMinute: 6 };
  const state = stateAt('update-application', { limits, estimate: quick, counts: counts({ total: 30, waiting: 30 }) });

  test('is at least as long as the limit allows', () => {
    const work = (changes: Partial<MigrationState>) =>
      remainingWork(progressOf(migrationPlan(), { ...state, ...changes }));
    expect(work({})).toEqual({ companies: 30, lowMs: 304_000, highMs: 308_000 });
    // The limit does not delay companies that are already moving.
    expect(work({ counts: counts({ total: 30, moved: 18, waiting: 6, syncing: 6 }) })?.lowMs).toBe(61_600);
    expect(work({ limits: DEFAULT_LIMITS })?.highMs).toBe(8_000);
    const longer = { ...quick, lowMs: 400_000, highMs: 900_000 };
    expect(work({ estimate: longer })).toMatchObject({ lowMs: 400_000, highMs: 900_000 });
  });

  test('is not used as the planned end', () => {
    expect(of(state, AT)?.ends).toEqual({
      earliest: '2026-03-07T20:06:00.000Z',
      latest: '2026-03-07T20:06:00.000Z',
    });
  });

  test('is not used while companies move', () => {
    const moving = { ...state, step: 'complete-migration' as const };
    expect(of(moving, NOW)?.ends?.earliest).toBe('2026-03-07T20:36:00.000Z');
  });
});

test('an estimate leaves out deferred companies, because their wait can be much longer than their move', () => {
  const work = (some: Partial<Counts>) =>
    remainingWork(progressOf(migrationPlan(), { ...MOVING, counts: counts({ total: 10, ...some }) }));
  expect(work({ waiting: 1, deferred: 1, moved: 9 })).toBeNull();
  expect(work({ waiting: 3, deferred: 1, moved: 7 })).toMatchObject({ companies: 2 });
});
