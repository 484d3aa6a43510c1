/**
 * Tests that commands refuse a database that contains no ledger, and leave it empty, until `ferry setup` creates one.
 */
import path from 'node:path';
import { createTestDatabase, execute, type TestDatabase } from '../../support/servers/database';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const MANIFEST = path.join(__dirname, '../../../examples/quickbooks-online-25/manifest.csv');
const M = 'acme.quickbooks-online';
const ADVICE = 'check DATABASE_URL; if this is the first start, create the ledger with: ferry setup';

const orchestrator = useOrchestrator();
let wrong: TestDatabase;
beforeAll(async () => {
  wrong = await createTestDatabase();
});
afterAll(() => wrong.drop());

const run = (...args: string[]) =>
  ferry(args, undefined, { ...orchestrator.env, DATABASE_URL: wrong.url, TOKENFERRY_PORTAL_URL: 'http://127.0.0.1:1' });
const place = () => `${new URL(wrong.url).host}${new URL(wrong.url).pathname}`;
const schemas = async () =>
  (await execute(wrong.url, "select nspname from pg_namespace where nspname = 'tokenferry'")).rows;

test.each([
  [['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'acme', '--contact', 'Sam']],
  [['list']],
  [['show', M]],
  [['companies', M]],
  [['reconcile', M]],
  [['invite', M, '--name', 'Cleo']],
  [['vault', 'rotate']],
])('ferry %j says that the database contains no ledger, and creates nothing in it', async (args) => {
  expect(await run(...args)).toMatchObject({
    exitCode: 1,
    out: '',
    err: `ferry: the database at ${place()} contains no ledger; ${ADVICE}\n`,
  });
  expect(await schemas()).toEqual([]);
});

test('a manifest can be checked, with a warning that other migrations were not', async () => {
  const { exitCode, out } = await run('check', MANIFEST, '--platform', 'quickbooks-online', '--json');
  expect({ exitCode, findings: (JSON.parse(out) as { findings: readonly unknown[] }).findings }).toEqual({
    exitCode: 0,
    findings: expect.arrayContaining([
      expect.objectContaining({
        code: 'not-asked',
        message: `other migrations could not be checked: the database at ${place()} contains no ledger`,
        advice: ADVICE,
      }),
    ]) as unknown,
  });
  expect(await schemas()).toEqual([]);
});

test('ferry setup creates the ledger, which commands then use', async () => {
  expect(await run('setup')).toMatchObject({ exitCode: 0 });
  expect(await run('list')).toMatchObject({ exitCode: 0, err: '' });
});
