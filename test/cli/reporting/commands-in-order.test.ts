/** Tests what `ferry show` prints before the commands that it suggests. */
import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import { progressOf } from '../../../domain/progress/progress';
import { counts, decideAll, LATER, migrationPlan, reject, stateAt } from '../../support/migrations/migration-states';
import { shownMigration } from './shown-migration';

test('an action that is needed before several commands is printed once', () => {
  const moved = stateAt('complete-migration', { counts: counts({ total: 9, moved: 9 }) });
  const plan = migrationPlan({ migrationId: 'acme.quickbooks-online' });
  const progress = progressOf(plan, decideAll(moved, reject('complete-migration', 'client')));
  const now = new Date(LATER);
  const next = nextCommands(progress, NO_COMPANIES, now);
  const lines = shownMigration(progress, { next }, { now }).trimEnd().split('\n');
  expect(lines.slice(lines.findIndex((line) => line.startsWith('  first ')))).toEqual([
    '  first resolve the problem for which the handover was rejected (only if companies are missing from the manifest, add them with: ferry amend acme.quickbooks-online companies.csv); then',
    '  support: ferry sign-off acme.quickbooks-online',
    expect.stringMatching(/^ {2}client: ferry sign-off acme.quickbooks-online --as client/),
  ]);
});
