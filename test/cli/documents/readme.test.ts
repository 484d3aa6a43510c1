/** The README names every command, platform and package; the runbook's commands are ones that there are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PLATFORMS } from '../../../platforms/platforms';
import { ferry } from '../captured-terminal';

const ROOT = path.join(__dirname, '../../..');
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const chapter = (name: string): string => README.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';

test('every command that ferry --help lists is in the table of commands', async () => {
  const { out } = await ferry(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z][a-z-]*) {2,}[A-Z]/gm)].map(([, name = '']) => name);
  expect(commands).toContain('replace-credential');
  expect(commands.filter((name) => !chapter('Commands').includes(`\`${name}\``))).toEqual([]);
});

test('every platform of the managed route is there with its key and fields, and no other one', () => {
  const [managed, others] = [true, false].map((wanted) =>
    PLATFORMS.filter(({ routes }) => routes.includes('managed') === wanted),
  );
  const rows = chapter('Platforms').split('\n');
  for (const { name, slug, key, requiredFields, optionalFields } of managed ?? []) {
    const row = rows.find((line) => line.startsWith(`| ${name} `)) ?? '';
    const missing = [slug, key, ...requiredFields, ...optionalFields].filter((word) => !row.includes(`\`${word}\``));
    expect({ name, missing }).toEqual({ name, missing: [] });
  }
  expect(others?.filter(({ slug }) => chapter('Platforms').includes(`\`${slug}\``))).toEqual([]);
});

test('every platform of the self-service route is there with its key and fields', () => {
  const rows = chapter('Self-service').split('\n');
  for (const { name, slug, key, requiredFields, optionalFields } of PLATFORMS.filter(({ routes }) =>
    routes.includes('self-service'),
  )) {
    const row = rows.find((line) => line.startsWith(`| ${name} `)) ?? '';
    const missing = [slug, key, ...requiredFields, ...optionalFields].filter((word) => !row.includes(`\`${word}\``));
    expect({ name, missing }).toEqual({ name, missing: [] });
  }
});

test('every package is there for a reason', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const packages = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith('@types/'));
  const built = chapter('Built on');
  const isNamed = (name: string): boolean =>
    built.includes(`\`${name}\``) || built.includes(`\`${name.split('/')[0]}/*\``);
  expect(packages.filter((name) => !isNamed(name))).toEqual([]);
});

test('every command of the runbook is one that ferry knows, with its options', async () => {
  const runbook = readFileSync(path.join(ROOT, 'docs/runbook.md'), 'utf8');
  const named = [...runbook.matchAll(/`ferry ([a-z-]+)((?: (?:show|resume|trigger|pause)\b)?)([^`]*)`/g)];
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
    // Of a command that there is not, the help is that of ferry itself.
    const known = out.startsWith(`Usage: ferry ${command} `);
    expect({ command, known, unknown }).toEqual({ command, known: true, unknown: [] });
  }
});
