/** Checks the units for systemd against the programs that they run and the page that describes them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const UNITS = path.join(ROOT, 'deploy/systemd');
const guide = readFileSync(path.join(ROOT, 'docs/deploying.md'), 'utf8');

const units = readdirSync(UNITS)
  .filter((file) => file.endsWith('.service'))
  .map((file) => [file, readFileSync(path.join(UNITS, file), 'utf8')] as const);

/** Returns the values of a setting. */
const settings = (unit: string, name: string): readonly string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the service, the workers, the portal and the codec server have a unit', () => {
  expect(units.map(([file]) => file).sort()).toEqual([
    'tokenferry-codec-server.service',
    'tokenferry-company-data.service',
    'tokenferry-portal.service',
    'tokenferry-worker@.service',
  ]);
});

test.each(units)('%s runs a program that exists, with the files that docs/deploying.md writes', (_, unit) => {
  const [command = ''] = settings(unit, 'ExecStart');
  const program = /\/dist\/(\S+)\.js/.exec(command)?.[1] ?? '';
  expect(existsSync(path.join(ROOT, `${program}.ts`))).toBe(true);
  const files = settings(unit, 'EnvironmentFile').map((file) => file.replace('%i', '$number'));
  expect(files).toHaveLength(1);
  for (const file of files) expect(guide).toContain(`cat > "${file.replace('/etc/tokenferry', '$CONF')}" <<END\n`);
  for (const [, name = ''] of command.matchAll(/\$([A-Z_]+)/g)) expect(guide).toContain(`\n${name}="--`);
  expect(settings(unit, 'Restart')).toEqual(['always']);
});

test('a worker has the time to stop that docs/deploying.md states', () => {
  const worker = units.find(([file]) => file.includes('worker'))?.[1] ?? '';
  expect(guide).toContain(`give it ${String(settings(worker, 'TimeoutStopSec')[0])} seconds`);
});

test('docs/configuration.md describes every variable that docs/deploying.md sets for a process', () => {
  const configuration = readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
  const blocks = [...guide.matchAll(/<<END\n([^]*?)\nEND\n/g)].map(([, block = '']) => block);
  const names = blocks.flatMap((block) => [...block.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name));
  expect(names.length).toBeGreaterThan(15);
  // Units, scripts and glibc use these variables; the programs do not.
  const isForUnits = (name: string): boolean => /^(?:TOKENFERRY_APP|MALLOC_ARENA_MAX|\w+_OPTIONS)$/.test(name);
  const describes = (name: string): boolean =>
    configuration.includes(`\`${name}\``) || configuration.includes(`\`${name.replace(/_FILE$/, '')}\``);
  expect(names.filter((name) => !isForUnits(name) && !describes(name))).toEqual([]);
});

test('docs/deploying.md gives each process its own health port, however many workers there are', () => {
  const ports = [...guide.matchAll(/HEALTH_ADDRESS=0\.0\.0\.0:\$(?:\(\((HEALTH_PORT[^)]*)\)\)|(HEALTH_PORT)$)/gm)].map(
    ([, sum, name]) => sum ?? name ?? '',
  );
  const portOf = (sum: string, number: number): number =>
    sum
      .replace(' - ', ' + -')
      .split(' + ')
      .reduce((port, term) => port + Number({ HEALTH_PORT: 9464, number }[term] ?? term), 0);
  const ofWorkers = new Set(ports.filter((sum) => sum.includes('number')));
  const ofOthers = ports.filter((sum) => !sum.includes('number')).map((sum) => portOf(sum, 0));
  expect(ofWorkers.size).toBe(1);
  expect(ofOthers).toHaveLength(3);
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1);
  const all = [...ofOthers, ...[...ofWorkers].flatMap((sum) => numbers.map((number) => portOf(sum, number)))];
  expect(new Set(all).size).toBe(53);
});
