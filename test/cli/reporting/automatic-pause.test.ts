import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import { widthOf } from '../../../cli/terminal/styled-text';
import { stopReasonText, type StopReason } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { WEEKDAYS } from '../../../domain/planning/windows';
import { withReconciledLedger } from '../../../domain/progress/ledger-behind';
import { progressOf } from '../../../domain/progress/progress';
import {
  AT,
  counts,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  stateAt,
} from '../../support/migrations/migration-states';
import { shownMigration } from './shown-migration';

const NOW = new Date(LATER);
const volume = {
  ...{ companies: 60, records: 12_000, companiesWithoutVolume: 0, largestCompany: 900, largestFamily: 1 },
  staleSince: null,
};
const known = {
  preflight: preflight({ application: { clientId: 'acme-app', environment: 'production', suppliedBy: 'Cleo' } }),
  estimate: estimate({ volume, limits: DEFAULT_LIMITS, speedEstimate: ASSUMED_SPEED, from: LATER }),
};
const moving = counts({ total: 60, moved: 43, importing: 3, waiting: 4, failed: 10, mustReconnect: 3, heldBack: 1 });
const nights = { days: WEEKDAYS, from: '20:00', to: '06:00', timeZone: 'Europe/London' };

const SITUATIONS: readonly MigrationState[] = [
  stateAt('migrate-first-company', { ...known, counts: counts({ total: 60, waiting: 60 }) }),
  stateAt('complete-migration', { ...known, counts: moving, firstCompany: firstCompany() }),
  stateAt('complete-migration', {
    ...{ ...known, counts: moving, firstCompany: firstCompany() },
    limits: { ...DEFAULT_LIMITS, windows: [nights] },
  }),
];

function shown(state: MigrationState, stopReason: StopReason, inFull = false): readonly string[] {
  const reason = stopReasonText(stopReason, 'affected so far: 15 companies (acme-1, acme-2, acme-3 and 12 more)');
  const progress = progressOf(migrationPlan(), { ...state, pause: { reason, by: null, stopReason, at: AT } });
  const found = {
    limits: state.limits,
    keyFingerprint: 'ab12-cd34-ef56-0718-293a-4b5c-6d7e-8f90',
    clientPage: `http://127.0.0.1:8235/m/${progress.migrationId}`,
    next: nextCommands(progress, NO_COMPANIES, NOW),
  };
  return shownMigration(progress, found, { columns: 80, now: NOW, inFull }).trimEnd().split('\n');
}

test.each<StopReason>([
  ...(['key-refused', 'account-limit', 'application-refused', 'wrong-organization'] as const),
  ...(['too-many-failures', 'ledger-behind'] as const),
])('a migration that has paused itself fits a terminal of 80x24: %s', (stopReason) => {
  for (const state of SITUATIONS) {
    const lines = shown(state, stopReason);
    const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / 80)), 0);
    // The shell's prompt needs one row.
    expect(rows).toBeLessThanOrEqual(23);
    expect(lines.join('\n')).toMatch(/ \(paused\)\nWaiting for support: [^]+\n\nCompanies: [^]+ ferry resume /);
  }
});

test('--evidence lists the steps even if the migration has paused itself', () => {
  for (const state of SITUATIONS)
    expect(shown(state, 'key-refused', true).join('\n')).toContain('\n1  Supply details             done ');
});

test('once the ledger is reconciled, the task is only to resume, and no command reconciles it again', () => {
  const reason = stopReasonText('ledger-behind');
  for (const state of SITUATIONS) {
    const pause = { reason, by: null, stopReason: 'ledger-behind', at: AT } as const;
    const by = { reason: 'a test', by: 'Cleo', role: 'client', stopReason: null, at: AT } as const;
    const paused = progressOf(migrationPlan(), { ...state, pause, pausesByPeople: [by] });
    expect(nextCommands(paused, NO_COMPANIES, NOW)[0]?.command).toContain('ferry reconcile ');
    const progress = withReconciledLedger(paused);
    expect(progress.waitingFor.what).toBe(
      'the ledger was out of date, but has been reconciled; resume the migration; the client also paused the migration',
    );
    const next = nextCommands(progress, NO_COMPANIES, NOW);
    expect(next.map(({ command }) => command)).toEqual([`ferry resume ${progress.migrationId}`]);
    expect(shownMigration(progress, { next }, { now: NOW })).not.toContain('reconcile the ledger');
  }
});

test('a task that is not about the ledger stays the same once the ledger is known to be current', () => {
  for (const state of SITUATIONS) {
    const progress = progressOf(migrationPlan(), state);
    expect(withReconciledLedger(progress)).toEqual(progress);
  }
});
