/** Tests where `ferry show` prints the problems and warnings of the supplied details, and what to do about each. */
import type { Preflight } from '../../../domain/migration/preflight-result';
import { withActingRoles } from '../../../domain/progress/acting-roles';
import { progressOf } from '../../../domain/progress/progress';
import { counts, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { shownMigration } from './shown-migration';

function shown(found: Partial<Preflight>): string {
  const state = stateAt('supply-details', { preflight: preflight(found), counts: counts({ total: 25, waiting: 25 }) });
  return shownMigration(withActingRoles(progressOf(migrationPlan(), state)), {}, { columns: 120 });
}

test('each problem and warning of the details is followed by what to do about it', () => {
  const out = shown({
    ...{ problems: ['the account has no room'], problemCodes: ['no-room'], advice: ['choose another plan'] },
    ...{ warnings: ['13 names', 'no family'], warningAdvice: ['check the names', 'fill in family'] },
  });
  expect(out.split('the account has no room')).toHaveLength(2);
  expect(out).toContain(
    'Waiting for support: details to correct:\n  ✗ the account has no room\n    What to do: choose another plan\n\n',
  );
  expect(out).toContain('  ! 13 names\n    What to do: check the names\n  ! no family\n    What to do: fill in family');
});

test('the problems of a migration without a manifest are listed under the text that asks for the manifest', () => {
  const out = shown({
    problems: ['there is no manifest yet', 'no application is registered'],
    problemCodes: ['no-companies', 'application-missing'],
    advice: ['supply the manifest', 'supply the application'],
  });
  expect(out).toContain(
    [
      'Waiting for client: supply the manifest; details to correct:',
      '  ✗ there is no manifest yet',
      '    What to do: supply the manifest',
      '  ✗ no application is registered',
      '    What to do: supply the application\n\n',
    ].join('\n'),
  );
});

test('advice is never printed without its problem if nothing else has to be corrected', () => {
  const out = shown({
    ...{ problems: ['there is no manifest yet'], problemCodes: ['no-companies'], advice: ['supply the manifest'] },
  });
  expect(out).toContain('Waiting for client: supply the manifest\n');
  expect(out).toContain('  ✗ there is no manifest yet\n    What to do: supply the manifest\n');
});
