/** Tests what `ferry show` says about a migration without companies. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { shownMigration } from './shown-migration';

const EMPTY = stateAt('supply-details', { counts: counts({ total: 0 }) });

test.each<[string, MigrationState, string]>([
  ['none yet while the manifest can be supplied', EMPTY, 'none yet'],
  ['none after the end', { ...EMPTY, closed: 'cancelled' }, 'none'],
])('a migration without companies has %s', (_, state, none) => {
  expect(shownMigration(progressOf(migrationPlan(), state)).split('\n')).toContain(`Companies: ${none}`);
});
