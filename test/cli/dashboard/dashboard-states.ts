/** States of the dashboard for its tests, and the lines that it shows for them. */
import { frameOf, visibleRowCount } from '../../../cli/dashboard/frame';
import { handleKey } from '../../../cli/dashboard/keys';
import {
  INITIAL_STATE,
  withReading,
  type DashboardRow,
  type DashboardState,
  type Reading,
} from '../../../cli/dashboard/state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { progressOf } from '../../../domain/progress/progress';
import { counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { textOf } from '../../../cli/terminal/styled-text';
import type { Overview } from '../../../store';

export const NOW = new Date('2026-03-02T22:04:11Z');
export const SIZE = { columns: 80, rows: 24 };
export const HEIGHT = visibleRowCount(SIZE);

export const row = (migrationId: string, changes: Partial<DashboardRow> = {}): DashboardRow => ({
  migrationId,
  state: 'waiting',
  step: 'schedule',
  waitingFor: 'client',
  total: 25,
  done: 0,
  failed: 0,
  startedAt: NOW,
  missingKey: null,
  endedInTemporal: false,
  overview: null,
  progress: null,
  ...changes,
});

export const RUNNING = stateAt('complete-migration', {
  counts: counts({ total: 1203, moved: 703, waiting: 500 }),
});
export const ESTIMATE = estimate({
  volume: {
    companies: 25,
    records: 0,
    companiesWithoutVolume: 0,
    largestCompany: 0,
    largestFamily: 0,
    staleSince: null,
  },
  limits: DEFAULT_LIMITS,
  speedEstimate: ASSUMED_SPEED,
  from: '2026-03-02T20:00:00.000Z',
});
export const progress = progressOf(migrationPlan(), RUNNING);
export const CONFIRMERS = { people: 3, names: ['Cleo', 'Clara', 'Carl'] };
export const overview = (movedInAll: number, moved: number, some: Partial<Overview['counts']> = { waiting: 500 }) => ({
  migrationId: '',
  total: 1203,
  movedInAll,
  exceptions: 12,
  moved,
  withinMs: 600_000,
  counts: { ...NONE_OPEN, ...some },
});
const NONE_OPEN = {
  ...{ waiting: 0, importing: 0, syncing: 0, outcomeUnknown: 0 },
  ...{ unconfirmed: 0, withoutCredential: 0, heldBack: 0 },
};
export const moving = row('moving.wave', {
  state: 'running',
  step: 'complete-migration',
  waitingFor: 'nobody',
  overview: overview(703, 410),
  progress,
});

export function stateOf(rows: readonly DashboardRow[], reading: Partial<Reading> = {}): DashboardState {
  return withReading(INITIAL_STATE, { rows, connectionError: null, at: NOW.getTime(), ...reading });
}

export function linesOf(state: DashboardState, size = SIZE): readonly string[] {
  return frameOf(state, size, NOW).map((line) => line.map(textOf).join('').trimEnd());
}

export function afterKeys(state: DashboardState, ...keys: string[]): DashboardState {
  return keys.reduce((before, key) => handleKey(before, key, HEIGHT).state, state);
}
