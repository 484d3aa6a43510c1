/** Tests what `ferry doctor` reports about a database that is not the ledger of the migrations in Temporal. */
import type { CheckResult } from '../../../cli/doctor';
import { listMigrations } from '../../../client';
import { collected } from '../../../domain/text/streams';
import { until } from '../../support/async';
import { startTestMigration } from '../../workflows/running-migration';
import { createTestDatabase, execute } from '../../support/servers/database';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { temporaryFolder } from '../../support/temporary-folder';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();

async function runDoctor(databaseUrl: string) {
  const env = { ...orchestrator.env, TOKENFERRY_HOME: folder, DATABASE_URL: databaseUrl };
  const { exitCode, out } = await ferry(['doctor', '--json'], undefined, env);
  const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
  const about = (name: string) => checks.find(({ check }) => check === name);
  return { exitCode, problems: checks.filter(({ verdict }) => verdict === 'problem'), about };
}

const placeOf = (databaseUrl: string) => `${new URL(databaseUrl).host}${new URL(databaseUrl).pathname}`;

test('a database without a ledger is reported and stays empty', async () => {
  const empty = await createTestDatabase();
  for (const attempt of [1, 2]) {
    const { problems } = await runDoctor(empty.url);
    expect({ attempt, problems }).toEqual({
      attempt,
      problems: [
        {
          check: 'schema',
          verdict: 'problem',
          finding: `the database at ${placeOf(empty.url)} contains no ledger`,
          advice: 'check DATABASE_URL; if this is the first start, create the ledger with: ferry setup',
        },
      ],
    });
  }
  await empty.drop();
});

test('an older schema is not a problem', async () => {
  const older = await createTestDatabase('ledger');
  await execute(older.url, "delete from tokenferry.kysely_migration where name = '0025-sign-in-waits'");
  const { exitCode, about } = await runDoctor(older.url);
  expect(exitCode).toBe(0);
  expect(about('schema')?.finding).toMatch(/^1 schema step behind/);
  await older.drop();
});
test('another ledger is reported if it contains none of the migrations that run in the namespace', async () => {
  const other = await createTestDatabase('ledger');
  const advice = (these: string) =>
    `check that DATABASE_URL names the ledger of ${these}; if the ledger was restored from a backup, docs/backup.md says what to do next`;
  const first = await startTestMigration(orchestrator, 'lone', ['sbx-ok-1.o1']);
  await first.until(({ preflight }) => preflight !== null);
  await until(async () => (await running()) === first.id);
  const alone = await runDoctor(other.url);
  expect(alone.problems).toEqual([
    {
      check: 'ledger',
      verdict: 'problem',
      finding: `the ledger at ${placeOf(other.url)} does not contain ${first.id}, which runs in this namespace`,
      advice: advice('this migration'),
    },
  ]);
  const second = await startTestMigration(orchestrator, 'two', ['sbx-ok-1.t1']);
  await second.until(({ preflight }) => preflight !== null);
  await until(async () => (await running()) === `${first.id},${second.id}`);
  // A migration of another namespace does not make this the right ledger.
  await storeIn(other.url, first.id, 'another-namespace');
  const both = await runDoctor(other.url);
  expect(both.problems).toMatchObject([
    {
      finding: `the ledger at ${placeOf(other.url)} contains none of the 2 migrations that run in this namespace`,
      advice: advice('these migrations'),
    },
  ]);
  expect(both.about('vaults')).toEqual({
    check: 'vaults',
    verdict: 'not-checked',
    finding: 'not checked, because the ledger is probably that of other migrations',
  });

  expect((await runDoctor(orchestrator.env['DATABASE_URL'] ?? '')).problems).toEqual([]);
  await other.drop();
});

/** Returns the ids of the migrations that Temporal lists as running, in alphabetical order and separated by commas. */
async function running(): Promise<string> {
  const found = await collected(listMigrations(orchestrator.ferry, 'open'));
  return found
    .map(({ migrationId }) => migrationId)
    .sort()
    .join();
}

/** Stores a migration as if it had been started in another namespace of Temporal. */
async function storeIn(databaseUrl: string, id: string, namespace: string): Promise<void> {
  await execute(
    databaseUrl,
    `insert into tokenferry.migrations (id, client, platform_key, contact, rotating, state, limits, manifest_digest,
       supplied_by, namespace)
     values ($1, 'c', 'p', 's', false, 'open', '{}', 'd', 'Cleo', $2)`,
    [id, namespace],
  );
}
