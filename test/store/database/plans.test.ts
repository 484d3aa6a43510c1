/**
 * The statements of a batch on a ledger that already has an older migration. The planner's statistics then know only
 * the older migration.
 */
import { sql } from 'kysely';
import { countCompanies, readRemainingWork, claimCompanies, openDatabase, type Database } from '../../../store';
import { createMovableMigration, manifestRows, useLedger } from '../../support/migrations/ledger';

const ROWS = 1_000;

const ledger = useLedger();
/** Has one connection, so that its statistics can be read at once. */
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
