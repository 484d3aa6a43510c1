/** Tests that docs/ lists every command, platform and package, and that the commands in docs/runbook.md exist. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PLATFORMS, type Platform } from '../../../platforms/platforms';
import { ferry } from '../captured-terminal';
import { readDocument } from '../documented-commands';

/** Returns the text below a heading of docs/platforms.md, up to the next heading. */
const chapter = (title: string): string =>
  readDocument('platforms.md').split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

test('docs/commands.md contains every command that ferry --help lists', async () => {
  const { out } = await ferry(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z][a-z-]*) {2,}[A-Z]/gm)].map(([, name = '']) => name);
  expect(commands).toContain('replace-credential');
  const document = readDocument('commands.md');
  expect(commands.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
});

test('the table of the managed route contains the platforms of that route with key and fields, and no others', () => {
  const [managed, others] = [true, false].map((isManaged) =>
    PLATFORMS.filter(({ routes }) => routes.includes('managed') === isManaged),
  );
  const table = chapter('Managed route');
  for (const platform of managed ?? []) expectRow(table, platform);
  expect(others?.filter(({ slug }) => table.includes(`\`${slug}\``))).toEqual([]);
});

test('the table of the self-service route contains the platforms of that route with key and fields', () => {
  const table = chapter('Self-service route');
  for (const platform of PLATFORMS.filter(({ routes }) => routes.includes('self-service'))) expectRow(table, platform);
});

const ROTATION_TEXTS = {
  'each-refresh': 'new with each refresh',
  daily: 'new about once a day',
  kept: 'does not change',
  none: 'none',
} as const satisfies Record<Platform['rotation'], string>;

/**
 * Compares a platform with its row cell by cell. A search in the whole row is not enough, because a field name can also
 * be in another cell.
 */
function expectRow(table: string, platform: Platform): void {
  const { name, slug, key, requiredFields, optionalFields, organizationField, rotation, family } = platform;
  const cellsOf = (line: string): readonly string[] =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  const [titles = '', ...rows] = table.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map(cellsOf).find(([first]) => first === name) ?? [];
  const row = Object.fromEntries(cellsOf(titles).map((title, index) => [title, cells[index]]));
  const list = (fields: readonly string[]): string => fields.map((field) => `\`${field}\``).join(', ');
  const optional = optionalFields.length === 0 ? '' : `; optional: ${list(optionalFields)}`;
  const familyText = family === 'none' ? '' : `; companies of one ${family} move one at a time`;
  expect(row).toMatchObject({
    platform: name,
    '`--platform`': `\`${slug}\``,
    key: `\`${key}\``,
    credential: `${list(requiredFields)}${optional}`,
    ...('organization' in row
      ? { organization: `\`${organizationField}\`` }
      : { 'refresh token': `${ROTATION_TEXTS[rotation]}${familyText}` }),
  });
}

test('docs/dependencies.md contains every package', () => {
  const packageJson = readFileSync(path.join(__dirname, '../../../package.json'), 'utf8');
  const { dependencies, devDependencies } = JSON.parse(packageJson) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const packages = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith('@types/'));
  const document = readDocument('dependencies.md');
  const isNamed = (name: string): boolean =>
    document.includes(`\`${name}\``) || document.includes(`\`${name.split('/')[0]}/*\``);
  expect(packages.filter((name) => !isNamed(name))).toEqual([]);
});

test('every command in the runbook exists and has the options that are used', async () => {
  const runbook = readDocument('runbook.md');
  const named = [...runbook.matchAll(/`ferry ([a-z-]+)((?: (?:show|resume|trigger|pause|renew)\b)?)([^`]*)`/g)];
  expect(named.length).toBeGreaterThan(60);
  const optionsOf = new Map<string, Set<string>>();
  for (const [, name = '', sub = '', rest = ''] of named) {
    const command = [name, ...sub.split(' ').filter((word) => word !== '')];
    optionsOf.set(
      command.join(' '),
      new Set([...(optionsOf.get(command.join(' ')) ?? []), ...(rest.match(/--[a-z-]+/g) ?? [])]),
    );
  }
  for (const [command, options] of optionsOf) {
    const { out } = await ferry([...command.split(' '), '--help']);
    const unknown = [...options].filter((option) => !out.includes(`${option} `));
    // For an unknown command, `ferry` prints its general help.
    const known = out.startsWith(`Usage: ferry ${command} `);
    expect({ command, known, unknown }).toEqual({ command, known: true, unknown: [] });
  }
});
