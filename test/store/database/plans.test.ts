/**
 * The statements of a batch on a ledger that already has an older migration. The planner's statistics then know only
 * the older migration.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  claimCompanies,
  countCompanies,
  countWithThroughput,
  type Database,
  hasReplacedApplication,
  openDatabase,
  readCompanies,
  readRemainingWork,
  readReplacedApplications,
  recordDecisions,
  takeDependentConnections,
} from '../../../store';
import { createMovableMigration, manifestRows, useLedger } from '../../support/migrations/ledger';

const ROWS = 1_000;

const ledger = useLedger();
/** Has one connection, because `pg_stat_force_next_flush` affects only the session that calls it. */
let db: Database;
beforeAll(async () => {
  db = await openDatabase({ url: ledger.url, connections: 1 });
});
afterAll(() => db.destroy());

/** Returns the number of rows that statements have read from the tables with one row per company. */
async function rowsRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ read: number }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read from pg_stat_user_tables
    where relname in ('companies', 'credentials')`.execute(db);
  return Number(rows[0]?.read);
}

test('a statement about a migration that is newer than the statistics reads each of its rows only a few times', async () => {
  await createMovableMigration({ db, keys: ledger.keys }, manifestRows(ROWS));
  await sql`analyze`.execute(db);
  const { id, owner } = await createMovableMigration({ db, keys: ledger.keys }, manifestRows(ROWS));

  const statements: readonly (readonly [string, () => Promise<unknown>, number])[] = [
    ['count', () => countCompanies(db, id), 5 * ROWS],
    ['remaining work', () => readRemainingWork(db, id), 5 * ROWS],
    ['claim', () => claimCompanies(db, owner, 10, null), 200],
  ];
  for (const [name, run, most] of statements) {
    const before = await rowsRead();
    await run();
    const read = (await rowsRead()) - before;
    expect({ name, read, isFew: read <= most }).toEqual({ name, read, isFew: true });
  }
});

test('companies with a replaced application are found without reading those of which none is left', async () => {
  const { id } = await createMovableMigration({ db, keys: ledger.keys }, manifestRows(ROWS));
  const application = { clientId: 'app-1', environment: 'production' };
  await sql`
    update migrations set application = ${JSON.stringify(application)}, namespace = ${id}, platform_key = ${id}
    where id = ${id}`.execute(db);
  await sql`
    update companies set state = 'moved', crossed_at = now() - interval '1 hour', company_id = gen_random_uuid(),
      connection_id = gen_random_uuid() where migration_id = ${id}`.execute(db);
  const readBy = async (run: () => Promise<unknown>) => {
    const before = await rowsRead();
    await run();
    return (await rowsRead()) - before;
  };
  await sql`analyze`.execute(db);
  // No application was replaced.
  expect(await readBy(async () => expect(await readReplacedApplications(db, id)).toBeNull())).toBeLessThan(50);
  const counting = await readBy(() => countWithThroughput(db, id));
  const decisionId = randomUUID();
  const sender = { decisionId, role: 'client', by: 'Cleo' } as const;
  await recordDecisions(db, id, [
    {
      decision: { kind: 'application-supplied', ...sender, clientId: 'app-2', environment: 'production' },
      outcome: { decisionId, applied: true, text: '', at: new Date(Date.now() - 1_800_000).toISOString() },
    },
  ]);
  await sql`analyze`.execute(db);
  expect(await readBy(() => countWithThroughput(db, id))).toBeGreaterThan(counting);
  const first = async () => {
    for await (const _ of readCompanies(db, id, { row: ROWS })) return;
  };
  expect(await hasReplacedApplication(db, id)).toBe(true);
  expect(await readBy(() => hasReplacedApplication(db, id))).toBeLessThan(50);
  expect(await readBy(first)).toBeLessThan(50);

  await sql`update companies set authorized_at = now() where migration_id = ${id}`.execute(db);
  await sql`vacuum analyze companies`.execute(db);
  expect(await hasReplacedApplication(db, id)).toBe(false);
  expect(await readBy(() => hasReplacedApplication(db, id))).toBeLessThan(50);
  expect(await readBy(() => takeDependentConnections(db, { namespace: id, limit: 20 }))).toBeLessThan(50);
});
