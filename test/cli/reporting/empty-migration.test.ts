/** Tests what `ferry show` says about a migration without companies. */
import { printMigration } from '../../../cli/reporting/migration-summary';
import { Output } from '../../../cli/terminal/output';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

const EMPTY = stateAt('supply-details', { counts: counts({ total: 0 }) });

test.each<[string, MigrationState, string]>([
  ['none yet while the manifest can be supplied', EMPTY, 'none yet'],
  ['none after the end', { ...EMPTY, closed: 'cancelled' }, 'none'],
])('a migration without companies has %s', (_, state, none) => {
  const stdout = capturedStream(80);
  printMigration(
    new Output({ stdout, stderr: stdout }, false),
    progressOf(migrationPlan(), state),
    {
      ...{ interrupted: null, limits: null, live: null, deferred: null, isBatchRunning: false, ledgerBehind: false },
      ...{ clientPage: null, applications: null, keyFingerprint: null, chosenFirst: null, confirmedBy: null },
      ...{ windowsPaused: null, retriedErrors: [], retryTexts: [], next: [] },
    },
    { inFull: false, now: new Date(AT) },
  );
  expect(stdout.text.split('\n')).toContain(`Companies: ${none}`);
});
