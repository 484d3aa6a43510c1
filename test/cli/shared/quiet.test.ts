/** Tests that `--quiet` prints only requested data and failures. */
import path from 'node:path';
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { MANIFEST } from '../command-line';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
const folder = temporaryFolder();
beforeAll(async () => {
  migration = await startTestMigration(orchestrator, 'quiet', ['sbx-ok-1.q1']);
  await migration.until(({ preflight }) => preflight !== null);
});

const quietly = (...args: string[]) => ferry([...args, '--quiet'], undefined, orchestrator.env);

test.each<[string, () => string[]]>([
  ['an applied decision', () => ['pause', migration.id]],
  ['a check without errors', () => ['check', MANIFEST, '-p', 'quickbooks-online', '--offline']],
  ['an exported template', () => ['export-template', path.join(folder, 'new'), '-p', 'xero']],
])('%s prints nothing', async (_, args) => {
  expect(await quietly(...args())).toEqual({ exitCode: 0, out: '', err: '' });
});

test('list prints only ids', async () => {
  const { out } = await quietly('list');
  expect(out.split('\n')).toContain(migration.id);
  expect(out).not.toContain('Migration');
});

test('start prints only the id of the migration', async () => {
  const args = ['start', MANIFEST, '-p', 'quickbooks-online', '--client', 'quietly-started'];
  expect(await quietly(...args)).toEqual({ exitCode: 0, out: 'quietly-started.quickbooks-online\n', err: '' });
});

test('requested data is printed', async () => {
  expect((await quietly('show', migration.id)).out).toContain(`${migration.id}  step 1 of 6`);
  expect((await quietly('companies', migration.id)).out).toContain('\n1 company\n');
});

test('refusals and failures are printed', async () => {
  const refused = await quietly('approve', migration.id, 'schedule', '--yes');
  expect(refused).toMatchObject({ exitCode: 1, err: '' });
  expect(refused.out).toMatch(/^✗ refused: /);
  const unknown = await quietly('show', 'nobody.xero');
  expect(unknown).toMatchObject({ exitCode: 1, out: '' });
  expect(unknown.err).toMatch(/^ferry: there is no migration nobody\.xero; /);
});
