/** Tests what `ferry show` prints before the commands that it suggests. */
import { printMigration } from '../../../cli/reporting/migration-summary';
import { nextCommands, NO_COMPANIES } from '../../../cli/shared/next-commands';
import { Output } from '../../../cli/terminal/output';
import { progressOf } from '../../../domain/progress/progress';
import { counts, decideAll, LATER, migrationPlan, reject, stateAt } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

test('an action that is needed before several commands is printed once', () => {
  const moved = stateAt('complete-migration', { counts: counts({ total: 9, moved: 9 }) });
  const plan = migrationPlan({ migrationId: 'acme.quickbooks-online' });
  const progress = progressOf(plan, decideAll(moved, reject('complete-migration', 'client')));
  const [stdout, now] = [capturedStream(400), new Date(LATER)];
  printMigration(
    new Output({ stdout, stderr: stdout }, false),
    progress,
    {
      ...{ interrupted: null, limits: null, live: null, deferred: null, isBatchRunning: false, ledgerBehind: false },
      ...{ clientPage: null, applications: null, keyFingerprint: null, chosenFirst: null, confirmedBy: null },
      ...{ windowsPaused: null, retriedErrors: [], retryTexts: [] },
      next: nextCommands(progress, NO_COMPANIES, now),
    },
    { inFull: false, now },
  );
  const lines = stdout.text.trimEnd().split('\n');
  expect(lines.slice(lines.findIndex((line) => line.startsWith('  first ')))).toEqual([
    '  first resolve the problem for which the handover was rejected (only if companies are missing from the manifest, add them with: ferry amend acme.quickbooks-online companies.csv); then',
    '  support: ferry sign-off acme.quickbooks-online',
    expect.stringMatching(/^ {2}client: ferry sign-off acme.quickbooks-online --as client/),
  ]);
});
