/** Tests which addresses of Postgres are refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../config';

const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-config-'));
afterAll(() => rmSync(home, { recursive: true }));

const load = (url: string) => loadConfig(['databaseUrl'], { TOKENFERRY_HOME: home, DATABASE_URL: url });

const PREFIX = 'must be an address that begins with postgres:// or postgresql://.';
const ESCAPE =
  'must have the special characters of its user and password percent-encoded, for example %2F for a slash, and no "@" in the name of its database.';

test.each([
  ['postgres:user:hunter2@host/db', PREFIX],
  ['postgres:/user:hunter2@host/db', PREFIX],
  [' postgres://user:hunter2@host/db', PREFIX],
  ['postgres://user:12/hunter2@host/db', ESCAPE],
  ['postgres://user:hunt/er2@host/db', ESCAPE],
  ['postgres://user:12#hunter2@host/db', ESCAPE],
  ['postgres://user:12?hunter2@host/db', ESCAPE],
  ['postgres://user:12?hunt&er2@host/db', ESCAPE],
  ['postgres://user:12?hunt=er2&x@host/db', ESCAPE],
  ['postgres://user:12/hunt?er2@host/db', ESCAPE],
  ['postgres://user:hunt?er2@host/db', ESCAPE],
  ['postgres://user:hunter2@host/d@b', ESCAPE],
  ['postgres://user:hunter2@host:99999/db', 'must have a valid host and port.'],
])('refuses an address of Postgres from which pg reads another database: %s', (url, problem) => {
  expect(() => load(url)).toThrow(expect.objectContaining({ problems: [`DATABASE_URL ${problem}`] }) as Error);
});

test.each([
  'postgres://db.internal/ledger?user=me@tenant',
  'postgres://db.internal?sslmode=require&user=me@tenant',
  'postgres://me:secret@db.internal/ledger?user=me@tenant',
])('accepts an address of Postgres with an unescaped @ in its options: %s', (url) => {
  expect(load(url).databaseUrl.reveal()).toBe(url);
});
