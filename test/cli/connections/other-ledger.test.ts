/** Tests what commands say about a migration in Temporal that the configured ledger does not have. */
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const ADVICE =
  'check that DATABASE_URL names the ledger of this migration; if the ledger was restored from a backup, docs/backup.md says what to do next';
const AS_SENTENCE = `C${ADVICE.slice(1)}.`;

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
let other: TestDatabase;
beforeAll(async () => {
  other = await createTestDatabase('ledger');
  migration = await startTestMigration(orchestrator, 'in-other-ledger', ['sbx-ok-1.e1']);
  // The workflow's mark is then higher than that of a ledger without the migration.
  await migration.until(({ preflight }) => preflight !== null);
  const { digests } = await migration.until(({ waitingFor }) => waitingFor.roles.includes('support'));
  await migration.send('approve', {
    step: 'supply-details',
    digest: digests['supply-details'],
    role: 'support',
    by: 'Sam',
  });
});
afterAll(() => other.drop());

const run = (...args: string[]) => ferry(args, undefined, { ...orchestrator.env, DATABASE_URL: other.url });

test('show says so, and does not suggest to reconcile the ledger', async () => {
  const { exitCode, out } = await run('show', migration.id);
  expect(exitCode).toBe(0);
  expect(out).toContain(`This migration is in Temporal, but not in the ledger. ${AS_SENTENCE}\n`);
  expect(out).not.toMatch(/out of date|reconcile|What to do next/);
  const json = await run('show', migration.id, '--json');
  expect(JSON.parse(json.out)).toMatchObject({ ledgerBehind: false, limits: null, next: [] });
});

test('list says so, and does not suggest to reconcile the ledger', async () => {
  const { exitCode, out } = await run('list');
  expect(exitCode).toBe(0);
  expect(out).toContain(`Temporal has ${migration.id}, but the ledger does not.\n  ${AS_SENTENCE}\n`);
  expect(out).not.toMatch(/out of date|reconcile/);
});

test.each([['companies'], ['exceptions'], ['reconcile'], ['propose-time', 'now'], ['resume', '--yes']])(
  '%s says so',
  async (command, ...options) => {
    expect(await run(command, migration.id, ...options)).toMatchObject({
      exitCode: 1,
      err: `ferry: ${migration.id} is in Temporal, but not in the ledger; ${ADVICE}\n`,
    });
  },
);
