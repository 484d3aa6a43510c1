/** Tests how a profile of Temporal that cannot be used is reported, and that commands without Temporal ignore it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigurationError, loadConfig } from '../../config';
import { ferry } from '../cli/captured-terminal';

const MANIFEST = path.join(__dirname, '../../examples/quickbooks-online-25/manifest.csv');
const CHECK = ['check', MANIFEST, '--platform', 'quickbooks-online'];

let home: string;
let file: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  file = path.join(home, 'temporal.toml');
  env = { TOKENFERRY_HOME: home, TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' };
});
afterEach(() => rmSync(home, { recursive: true }));

function problemOf(): string {
  try {
    loadConfig(['temporal'], env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error('the configuration has no problem');
}

const BROKEN = '[profile.prod]\naddress = "cloud:7233"\napi_key = hunter2\n';

test('a file that does not parse is named with the line, without quoting it', () => {
  writeFileSync(file, BROKEN);
  expect(problemOf()).toContain(`cannot be read: ${file}, line 3: Invalid TOML document`);
  expect(problemOf()).not.toContain('hunter2');
});

test('an unknown profile is named with its file', () => {
  expect(problemOf()).toContain(
    `cannot be read: there is no file ${file}. Unset TEMPORAL_PROFILE, set TEMPORAL_CONFIG_FILE to an existing file, or create the file with a section [profile.prod].`,
  );
  writeFileSync(file, '[profile.other]\naddress = "cloud:7233"\n');
  expect(problemOf()).toContain(
    `${file} has no profile prod. Correct TEMPORAL_PROFILE, or add [profile.prod] to the file.`,
  );
});

test.each([
  ['address = ""', 'address must be text that is not empty.'],
  [
    'address = "cloud:7233"\napi_key = "secret "',
    'api_key must be one line of ASCII text, not empty, and without spaces at either end.',
  ],
])('%j is refused with the whole rule', (lines, rule) => {
  writeFileSync(file, `[profile.prod]\n${lines}\n`);
  expect(problemOf()).toBe(`Temporal's configuration (TEMPORAL_* variables, profile): ${rule}`);
});

test('the default file is named', () => {
  const { TEMPORAL_CONFIG_FILE: _, ...rest } = env;
  env = { ...rest, XDG_CONFIG_HOME: home, HOME: home, APPDATA: home };
  expect(problemOf()).toContain(path.join('temporalio', 'temporal.toml'));
});

test.each([
  ['check', CHECK],
  ['keys', ['keys', 'show']],
  ['completion', ['completion', 'bash']],
])('%s needs no Temporal, and does not read the profile', async (_, args) => {
  writeFileSync(file, BROKEN);
  const { err } = await ferry(args, 80, env);
  expect(err).not.toContain('temporal.toml');
  expect(err).not.toContain("Temporal's configuration");
});

test('check succeeds although the profile is broken', async () => {
  writeFileSync(file, BROKEN);
  expect(await ferry(CHECK, 80, env)).toMatchObject({ exitCode: 0, err: '' });
});
