/** The forecast while companies are deferred, and how long data is out of date in self-service. */
import { newMigration, type MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { forecastOf, liveForecastOf } from '../../../domain/progress/forecast';
import { progressOf } from '../../../domain/progress/progress';
import { withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { AT, counts, LATER, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';

const NOW = '2026-03-07T20:30:20.000Z';
const TEN_IN_TEN_MINUTES = { moved: 10, withinMs: 10 * 60_000 };

const of = (state: MigrationState) => forecastOf(progressOf(migrationPlan(), state), TEN_IN_TEN_MINUTES, NOW);

const moving = (some: Parameters<typeof counts>[0]): MigrationState =>
  stateAt('complete-migration', { counts: counts({ total: 8, moved: 6, ...some }) });

test('there is no forecast while only deferred companies are left, because nobody knows when they will move', () => {
  expect(of(moving({ waiting: 2, deferred: 2 }))).toBeNull();
  expect(of(moving({ waiting: 2, deferred: 1, unconfirmed: 1 }))).toBeNull();
});

test('the forecast leaves out deferred companies', () => {
  expect(of(moving({ moved: 3, waiting: 4, syncing: 1, deferred: 1 }))).toMatchObject({
    ...{ companies: 4, isComplete: false },
    ends: { latest: '2026-03-07T20:35:00.000Z' },
  });
});

test('the forecast knows from the ledger which companies are deferred', () => {
  const progress = { ...progressOf(migrationPlan(), moving({ waiting: 2 })), throughput: TEN_IN_TEN_MINUTES };
  const { waiting, importing, syncing, outcomeUnknown, unconfirmed, withoutCredential, heldBack } = progress.counts;
  const live = { waiting, importing, syncing, outcomeUnknown, unconfirmed, withoutCredential, heldBack, deferred: 2 };
  expect(liveForecastOf(progress, null, NOW)?.companies).toBe(2);
  expect(liveForecastOf(progress, { ...TEN_IN_TEN_MINUTES, counts: live }, NOW)).toBeNull();
});

test('in self-service, data is out of date from the start of the migration', () => {
  const plan = migrationPlan({ route: 'self-service' });
  const started = withStepOpened(newMigration({ ...plan, limits: DEFAULT_LIMITS }), 'supply-details', AT);
  const state = {
    ...withStepOpened(withStepEnded(started, 'supply-details', LATER), 'complete-migration', LATER),
    preflight: preflight(),
    counts: counts({ total: 8, moved: 6, waiting: 2 }),
  };
  const progress = progressOf(plan, state);
  const now = '2026-03-02T10:30:00.000Z';
  // The two companies move within two minutes. The migration started an hour and a half ago.
  expect(forecastOf(progress, TEN_IN_TEN_MINUTES, now)?.staleMs).toBe(92 * 60_000);
});
