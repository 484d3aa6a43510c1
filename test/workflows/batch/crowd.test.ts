/** Migrations with many slices occupy many activity slots of a worker. */
import { countCompanies } from '../../../store';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

/** Two migrations with this many slices occupy more slots than the default of Temporal's SDK, 100. */
const SLICES = 64;
/** Nearly as many slices as the SDK's default would let run at the same time. */
const BUSY_SLICES = 90;

const orchestrator = useOrchestratorWithWorker();

/** Returns a migration whose first company has been moved but not approved. */
async function prepare(client: string, companies: number, limits: object): Promise<TestMigration> {
  const tokens = Array.from({ length: companies }, (_, index) => `sbx-ok-1.${client}${index}`);
  const migration = await startTestMigration(orchestrator, client, tokens);
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  return migration;
}

const begin = ({ send }: TestMigration) => send('approve', { step: 'migrate-first-company', ...SUPPORT });
const countsOf = ({ id }: TestMigration) => countCompanies(orchestrator.ferry.db, id);

/** Returns the number of companies that have been imported. */
async function importedOf(migration: TestMigration): Promise<number> {
  const { syncing, moved } = await countsOf(migration);
  return syncing + moved;
}

test('a small migration does not wait for slices of other migrations, which keep their slots while their pace makes them wait', async () => {
  // At this pace, every slice begins one company per minute.
  const paced = { slicesAtOnce: SLICES, companiesPerSliceAtOnce: 1, companiesPerMinute: SLICES, rampCompanies: 0 };
  const [one, other, small] = await Promise.all([
    prepare('one', SLICES + 1, paced),
    prepare('other', SLICES + 1, paced),
    prepare('small', 4, { rampCompanies: 0 }),
  ]);
  await Promise.all([one, other].map(begin));
  await until(async () => (await importedOf(one)) + (await importedOf(other)) > BUSY_SLICES);

  await begin(small);
  // The slices of the other migrations end a minute after they began.
  await until(async () => (await countsOf(small)).moved === 4, 40_000);
});
