/** Tests what `ferry doctor` reports about a database that is not the ledger of the migrations in Temporal. */
import type { CheckResult } from '../../../cli/doctor';
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
  await execute(older.url, "delete from tokenferry.kysely_migration where name = '0024-first-claims'");
  const { exitCode, about } = await runDoctor(older.url);
  expect(exitCode).toBe(0);
  expect(about('schema')?.finding).toMatch(/^1 schema step behind/);
  await older.drop();
});
