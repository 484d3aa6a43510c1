/** Tests `ferry` for a client that has Temporal's address and the payload key, but neither database nor service. */
import { CLIENT, startTestMigration, SUPPORT } from '../../workflows/running-migration';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();
let env: NodeJS.ProcessEnv;
const AS_CLIENT = ['--as', 'client', '--by', 'Cleo'];

beforeAll(async () => {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TOKENFERRY_PAYLOAD_KEY } = orchestrator.env;
  env = { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TOKENFERRY_PAYLOAD_KEY };
});

const run = (...args: string[]) => ferry(args, undefined, env);
async function json(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run(...args, '--json')).out) as Record<string, unknown>;
}
async function done(...args: string[]): Promise<string> {
  const { exitCode, out, err } = await run(...args);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  return out;
}

test('a client without the database can watch its migration and decide, from step 1 to the sign-off', async () => {
  const migration = await startTestMigration(orchestrator, 'no-database', ['sbx-ok-1.nd1', 'sbx-revoked.nd2']);
  const { id } = migration;
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });

  expect(await done('list')).toContain(id);
  expect(await json('show', id)).toMatchObject({ migrationId: id, step: 'schedule', interrupted: null });
  expect(await done('propose-time', id, 'now', ...AS_CLIENT)).toContain('✓');
  expect(await done('approve', id, 'schedule', '--yes', ...AS_CLIENT)).toContain('Start: ');
  expect(await done('reject', id, 'schedule', '--reason', 'too early', ...AS_CLIENT)).toContain('✓');
  await done('propose-time', id, 'now', ...AS_CLIENT);
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  await done('approve', id, 'schedule', '--yes', ...AS_CLIENT);
  await done('approve', id, 'update-application', ...AS_CLIENT);
  await migration.send('approve', { step: 'update-application', ...SUPPORT });
  expect(await done('pause', id, ...AS_CLIENT)).toContain('✓');
  expect(await done('resume', id, ...AS_CLIENT)).toContain('✓');
  expect(await done('confirm-sync-disabled', id, 'R-1', ...AS_CLIENT)).toContain('✓');
  expect(await done('confirm-sync-disabled', id, '--all', ...AS_CLIENT)).toContain('✓');
  await migration.until(({ step }) => step === 'migrate-first-company');
  await migration.supply('R-1', 'sbx-ok-1.nd1');
  await migration.supply('R-2', 'sbx-revoked.nd2');
  await migration.send('credentialsSupplied', { companies: 2, ...CLIENT });
  expect(await done('watch', id, '--until-decision')).toContain(id);
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);

  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  expect(await done('sign-off', id, '--yes', ...AS_CLIENT)).toContain('1 of 2 companies moved');
  await orchestrator.ferry.temporal.workflow.getHandle(id).result();
  expect((await run('pause', id, ...AS_CLIENT)).err).toContain(
    `migration ${id} is closed and accepts no more decisions`,
  );
});

test.each([
  ['companies', 'any.xero'],
  ['report', 'any.xero'],
  ['exceptions', 'any.xero'],
  ['credentials', 'any.xero', 'file.csv'],
  ['sweep'],
])('ferry %s reports that it needs the database, and whom to ask', async (...args) => {
  expect(await run(...args)).toEqual({
    exitCode: 1,
    out: '',
    err:
      'ferry: this command needs the database, but no database is configured (DATABASE_URL); ' +
      'set DATABASE_URL, or ask someone with access to the database to run the command; without the database you can list, show, watch and decide\n',
  });
});

test('--wave reports that it needs the database, and what to use instead', async () => {
  expect(await run('confirm-sync-disabled', 'any.xero', '--wave', '1', ...AS_CLIENT)).toEqual({
    exitCode: 1,
    out: '',
    err:
      'ferry: --wave needs the database, but no database is configured (DATABASE_URL); ' +
      'set DATABASE_URL, or specify the companies\n',
  });
});

test('an unknown migration gives the same error as with the database', async () => {
  for (const args of [
    ['show', 'nobody.xero'],
    ['pause', 'nobody.xero'],
  ])
    expect((await run(...args)).err).toContain('there is no migration nobody.xero');
});

test('a decision by the wrong role is refused without the database too', async () => {
  const migration = await startTestMigration(orchestrator, 'no-database-role', ['sbx-ok-1.nd3']);
  await migration.until(({ preflight }) => preflight !== null);
  const { exitCode, out } = await run('approve', migration.id, 'supply-details', ...AS_CLIENT);
  expect({ exitCode, out }).toMatchObject({ exitCode: 1, out: expect.stringContaining('refused') as string });
  await migration.send('cancel', { reason: 'the test is over', ...CLIENT });
});
