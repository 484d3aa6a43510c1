/** Tests the commands that `ferry exceptions` suggests. */
import { nextCommands, NO_COMPANIES } from '../../../cli/suggestions/next-commands';
import { otherReferencesText, remedyCommand } from '../../../cli/suggestions/remedy-commands';
import type { FindingCode } from '../../../domain/companies/finding';
import type { Remedy } from '../../../domain/companies/remedies';
import type { CheckedApplication } from '../../../domain/migration/preflight-result';
import { progressOf } from '../../../domain/progress/progress';
import { AT, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { platform } from '../../support/migrations/platforms';
import { assertValid } from '../captured-terminal';

const ID = 'acme.quickbooks-online';
const TARGET = { id: ID, platformKey: platform('quickbooks-online').key, application: null };
const REMEDIES = ['retry', 'relink', 'replace-credential', 'credentials', 'skip', 'amend', 'exclude'] as const;

test('in self-service, the command of a remedy names the person who has supplied the manifest', () => {
  const migration = { ...TARGET, route: 'self-service', suppliedBy: "Mia O'Neil" } as const;
  expect(remedyCommand('retry', migration, ['C-1'])).toBe(`ferry retry ${ID} C-1 --as client --by 'Mia O'\\''Neil'`);
});

test('every command of a remedy is valid as printed', async () => {
  const migrations = (['managed', 'self-service'] as const).map((route) => ({
    ...TARGET,
    route,
    suppliedBy: "Mia O'Neil",
  }));
  const remedies = REMEDIES.flatMap((remedy) =>
    migrations.flatMap((migration) => [
      remedyCommand(remedy, migration, ['C-1', "O'Neill; rm *"]),
      remedyCommand(remedy, migration, ['--all']),
      remedyCommand(
        remedy,
        migration,
        Array.from({ length: 60 }, (_, index) => `C-${index}`),
      ),
    ]),
  );
  for (const command of new Set(remedies)) await assertValid(command);
});

test('a command for many companies names references, not a file that does not exist', () => {
  const migration = { ...TARGET, route: 'managed', suppliedBy: 'Mia' } as const;
  const many = Array.from({ length: 51 }, (_, index) => `C-${index}`);
  expect(remedyCommand('retry', migration, many)).toBe(`ferry retry ${ID} --all`);
  expect(remedyCommand('skip', migration, many)).toBe(`ferry skip ${ID} ${many.slice(0, 50).join(' ')} --reason "why"`);
});

test('a suggested application has the environment of the platform, or else of a known application', () => {
  const sandboxApp = { clientId: 'app-1', environment: 'sandbox' };
  const ofRemedy = (slug: string, application: typeof sandboxApp | null) => {
    const { key: platformKey } = platform(slug);
    return remedyCommand(
      'application',
      { ...TARGET, route: 'managed', suppliedBy: 'Mia', platformKey, application },
      [],
    );
  };
  expect(ofRemedy('freeagent', sandboxApp)).toContain('--client-id "client id" --environment sandbox');
  expect(ofRemedy('freeagent', null)).toContain('--environment production');
  expect(ofRemedy('quickbooks-online-sandbox', null)).toContain('--environment sandbox');
  const commandsFor = (slug: string, application: CheckedApplication | null, ...codes: FindingCode[]) => {
    const found = preflight({ problems: codes, problemCodes: codes, application });
    const state = stateAt('supply-details', { preflight: found });
    const { key: platformKey } = platform(slug);
    const progress = progressOf(migrationPlan({ migrationId: ID, platformKey }), state);
    return nextCommands(progress, NO_COMPANIES, new Date(AT));
  };
  const registered = { ...sandboxApp, suppliedBy: null };
  const inFreeAgent = (...codes: FindingCode[]) =>
    commandsFor('freeagent', registered, ...codes).map(({ command }) => command);
  expect(inFreeAgent('application-differs').join()).toContain('--client-id "client id" --environment sandbox');
  expect(inFreeAgent('application-environment').join()).toContain('--client-id "client id" --environment production');
  const effects = (slug: string, application: CheckedApplication | null) =>
    commandsFor(slug, application, 'application-missing').flatMap(({ does }) => does ?? []);
  expect(effects('freeagent', null)).toEqual(['registers it; for a sandbox application, use --environment sandbox']);
  expect(effects('freeagent', registered)).toEqual([]);
  expect(effects('quickbooks-online', null)).toEqual([]);
});

test.each<[Remedy, references: number, companies: number, string | null]>([
  ['skip', 50, 50, null],
  ['skip', 51, 51, 'the command names only the first 50 companies: add the reference of the other company'],
  // `ferry exceptions` knows only the first references of a large group: here, 51 of 80.
  ['exclude', 51, 80, 'the command names only the first 50 companies: add the references of the other 30'],
  ['retry', 51, 80, '--all also includes any companies with other problems'],
  ['retry', 50, 50, null],
  ['replace-credential', 51, 80, null],
])(
  'a command to %s that has %d references of %d companies says how many it lacks',
  (remedy, references, companies, text) => {
    const migration = { ...TARGET, route: 'managed', suppliedBy: 'Mia' } as const;
    const known = Array.from({ length: references }, (_, index) => `C-${index}`);
    expect(otherReferencesText(remedyCommand(remedy, migration, known), known, companies)).toBe(text);
  },
);

test('a command with a file of references says what the file must contain', () => {
  const migration = { ...TARGET, route: 'managed', suppliedBy: 'Mia' } as const;
  const known = Array.from({ length: 60 }, (_, index) => `-${index}`);
  expect(otherReferencesText(remedyCommand('skip', migration, known), known)).toBe(
    'put the references of these companies into the file, one per line',
  );
});
