/** Tests what `ferry show` says about companies whose move was interrupted, while the migration is paused. */
import type { StopReason } from '../../../domain/companies/failures';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { shownMigration } from './shown-migration';

function shown(stopReason: StopReason | null, companies: number): string {
  const by = stopReason === null ? 'Sam' : null;
  const state = stateAt('complete-migration', {
    counts: counts({ total: 60, moved: 57, importing: 3 }),
    pause: { reason: 'why', by, stopReason, at: AT },
  });
  return shownMigration(progressOf(migrationPlan(), state), { interrupted: { companies, inFlightUntil: null } });
}

test.each([null, 'too-many-failures', 'application-refused', 'wrong-organization'] as const)(
  'companies whose credential may have been sent continue during the pause: %s',
  (stopReason) => {
    expect(shown(stopReason, 1)).toContain(
      '1 company was interrupted while being moved. If its credential may have been sent, the company continues automatically. Otherwise, it continues once the migration is resumed.\n',
    );
    expect(shown(stopReason, 3)).toContain('All others continue once the migration is resumed.\n');
  },
);

test.each(['key-refused', 'account-limit', 'ledger-behind'] as const)(
  'no company continues before the migration is resumed: %s',
  (stopReason) => {
    expect(shown(stopReason, 1)).toContain(
      '1 company was interrupted while being moved. It continues once the migration is resumed.\n',
    );
    expect(shown(stopReason, 3)).toContain(
      '3 companies were interrupted while being moved. They continue once the migration is resumed.\n',
    );
  },
);
