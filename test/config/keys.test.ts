/** Tests the advice in messages about keys that are missing or cannot be read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig, writeRunningStack } from '../../config';
import { problemsOf } from './problems';
import { sampleStack } from './sample-stack';

let home: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'tokenferry-config-'));
  env = { TOKENFERRY_HOME: home, TEMPORAL_CONFIG_FILE: path.join(home, 'temporal.toml') };
});
afterEach(() => rmSync(home, { recursive: true }));

test.each<[boolean, string]>([
  [false, 'Not configured: the service key (TOKENFERRY_SERVICE_KEY or TOKENFERRY_SERVICE_KEY_FILE). '],
  [
    true,
    'Not configured: Postgres (DATABASE_URL), the service key (TOKENFERRY_SERVICE_KEY or TOKENFERRY_SERVICE_KEY_FILE). ',
  ],
])(
  'does not advise to start a stack for the service key, which a stack does not provide (Postgres too: %s)',
  (both, names) => {
    const load = (): unknown => loadConfig(both ? ['databaseUrl', 'serviceKeys'] : ['serviceKeys'], env);
    expect(problemsOf(load)).toEqual([
      `${names}Configure what is missing, because ferry up does not provide ${both ? 'all of it' : 'it'}.`,
    ]);
  },
);

test("advises to restore a key file of the running stack that is missing, because 'ferry up' would create a new key", () => {
  const stack = sampleStack(home);
  writeRunningStack(home, stack);
  expect(problemsOf(() => loadConfig(['masterKeys'], env))).toEqual([
    `The running stack's master key cannot be read: ENOENT: no such file or directory, open '${stack.masterKeyFile}'. ` +
      'Check your permissions; if the file is missing, restore it from a copy.',
  ]);
});

test('says what to do about a signing key file that is too large', () => {
  const file = path.join(home, 'large');
  writeFileSync(file, 'x'.repeat(64 * 1024 + 1));
  const load = (): unknown => loadConfig([], { ...env, TOKENFERRY_SIGNING_KEY_FILE: file }, ['signingKey']);
  expect(problemsOf(load)).toEqual([
    `The signing key ${file} cannot be used: the file is larger than 64 KB. ` +
      'If your key is in another file, set TOKENFERRY_SIGNING_KEY_FILE to that file. ' +
      'Otherwise, restore this file from a copy. ' +
      'If you have no copy, move this file away, and create a new key with: ferry keys create',
  ]);
});
