/** The facts of a migration in which everything is ready for the next wave, for the tests of go-nogo. */
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Window } from '../../../domain/planning/windows';
import { goNoGo } from '../../../domain/progress/go-nogo';
import type { Answer, GoNoGoFacts } from '../../../domain/progress/go-nogo-facts';
import type { ServiceFacts } from '../../../domain/preflight/preflight';
import type { Forecast } from '../../../domain/progress/forecast';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { platform } from '../../support/migrations/platforms';

const plan = migrationPlan({ contact: 'Sam' });

export const MOVING = stateAt('complete-migration', { counts: counts({ total: 10, moved: 1, waiting: 9 }) });
const NIGHT: Window = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'UTC' };

export const ACCOUNT = { plan: 'paid', role: 'administrator', companyLimit: null, companiesUsed: 1, expiresAt: null };
export const SERVICE: ServiceFacts = {
  account: ACCOUNT,
  platformEnabled: true,
  callbackUrl: null,
  application: { clientId: 'app-1', environment: 'production' },
};

export const FORECAST: Forecast = {
  ...{ companies: 9, isComplete: true, beginsAt: '2026-03-09T22:00:00.000Z', basis: 'estimate' },
  ends: { earliest: '2026-03-09T23:00:00.000Z', latest: '2026-03-10T03:00:00.000Z' },
  staleMs: 5 * 3_600_000,
};

export const facts = (changes: Partial<GoNoGoFacts> = {}, state: MigrationState = MOVING): GoNoGoFacts => ({
  migrationId: plan.migrationId,
  now: '2026-03-09T09:00:00.000Z',
  route: 'managed',
  platform: platform('quickbooks-online'),
  contact: 'Sam, +44 20 7946 0000',
  limits: { ...DEFAULT_LIMITS, windows: [NIGHT] },
  next: {
    wave: 2,
    companies: 9,
    unconfirmed: 0,
    withoutCredential: 0,
    firstWithoutCredential: [],
    leftBehind: 0,
    firstLeftBehind: [],
    oldestCredentialAt: AT,
  },
  chosenFirst: null,
  toCreate: 9,
  failures: { failed: 0, tried: 1, accepted: 0 },
  forecast: FORECAST,
  progress: progressOf(plan, state),
  isLedgerBehind: false,
  live: null,
  unanswered: null,
  windowsPaused: null,
  isBatchRunning: false,
  workers: { workflows: 1, activities: 1 },
  failing: [],
  service: SERVICE,
  applications: { migrationId: 'kite.quickbooks-online', client: 'kite', supplied: null, others: [] },
  dependents: { client: 'kite', supplied: null, others: [] },
  moved: [],
  changedSinceSignOff: [],
  ...changes,
});

/** The facts that differ if no worker answers. */
export const NO_ANSWER = {
  progress: null,
  unanswered: { reason: 'no worker is answering', remedy: 'start one' },
} as const;

/** Returns the checks that are a no-go. */
export const noGos = (given: GoNoGoFacts): readonly Answer['check'][] =>
  goNoGo(given).answers.flatMap(({ check, go }) => (go ? [] : [check]));

/** Returns the checks that contain a warning. */
export const warned = (given: GoNoGoFacts): readonly Answer['check'][] =>
  goNoGo(given).answers.flatMap(({ check, warning }) => (warning ? [check] : []));

export const whyOf = (given: GoNoGoFacts, asked: Answer['check']): string | undefined =>
  goNoGo(given).answers.find(({ check }) => check === asked)?.why;
