/** Tests secrets whose variable names a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../config';

const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-config-'));
afterAll(() => rmSync(home, { recursive: true }));

const load = (variables: NodeJS.ProcessEnv) => loadConfig(['databaseUrl'], { TOKENFERRY_HOME: home, ...variables });

test('a secret can be a file', () => {
  const file = path.join(home, 'database-url');
  writeFileSync(file, 'postgres://worker:pass@db.example/tokenferry\n');
  expect(load({ DATABASE_URL_FILE: file }).databaseUrl.reveal()).toBe('postgres://worker:pass@db.example/tokenferry');
});

test.each([
  [
    'a missing file',
    { DATABASE_URL_FILE: '/missing' },
    /^DATABASE_URL_FILE cannot be read: ENOENT.*'\. Check the path and your permissions\.$/,
  ],
  ['an empty file', { DATABASE_URL_FILE: '/dev/null' }, /^DATABASE_URL_FILE names an empty file\./],
  [
    'a variable in addition to the file',
    { DATABASE_URL_FILE: '/missing', DATABASE_URL: 'postgres://a@b/c' },
    /^DATABASE_URL_FILE is set, but DATABASE_URL is set as well\. Set only one of them\.$/,
  ],
])('%s is reported as a problem, once', (_, variables, message) => {
  expect(() => load(variables)).toThrow(message);
});

test('the file of a secret that a process does not need is not read', () => {
  expect(() => loadConfig([], { TOKENFERRY_HOME: home, DATABASE_URL_FILE: '/missing' })).not.toThrow();
});
