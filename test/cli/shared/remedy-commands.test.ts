/** Tests the commands that `ferry exceptions` suggests. */
import { otherReferencesText, remedyCommand } from '../../../cli/shared/remedy-commands';
import type { Remedy } from '../../../domain/companies/remedies';
import { assertValid } from '../captured-terminal';

const ID = 'acme.quickbooks-online';
const REMEDIES = ['retry', 'relink', 'replace-credential', 'credentials', 'skip', 'amend', 'exclude'] as const;

test('in self-service, the command of a remedy names the person who has supplied the manifest', () => {
  const migration = { id: ID, route: 'self-service', suppliedBy: "Mia O'Neil" } as const;
  expect(remedyCommand('retry', migration, ['C-1'])).toBe(`ferry retry ${ID} C-1 --as client --by 'Mia O'\\''Neil'`);
});

test('every command of a remedy is valid as printed', async () => {
  const migrations = (['managed', 'self-service'] as const).map((route) => ({
    id: ID,
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
  const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
  const many = Array.from({ length: 51 }, (_, index) => `C-${index}`);
  expect(remedyCommand('retry', migration, many)).toBe(`ferry retry ${ID} --all`);
  expect(remedyCommand('skip', migration, many)).toBe(`ferry skip ${ID} ${many.slice(0, 50).join(' ')} --reason "why"`);
});

test.each<[Remedy, references: number, companies: number, string | null]>([
  ['skip', 50, 50, null],
  ['skip', 51, 51, 'also specify 1 other company'],
  // Of a large group, only the first references are known.
  ['exclude', 51, 80, 'also specify 30 other companies'],
  ['retry', 51, 80, null],
  ['replace-credential', 51, 80, null],
])(
  'a command to %s that has %d references of %d companies says how many it lacks',
  (remedy, references, companies, text) => {
    const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
    const known = Array.from({ length: references }, (_, index) => `C-${index}`);
    expect(otherReferencesText(remedyCommand(remedy, migration, known), known, companies)).toBe(text);
  },
);

test('a command with a file of references lacks none', () => {
  const migration = { id: ID, route: 'managed', suppliedBy: 'Mia' } as const;
  const known = Array.from({ length: 60 }, (_, index) => `-${index}`);
  expect(otherReferencesText(remedyCommand('skip', migration, known), known)).toBeNull();
});
