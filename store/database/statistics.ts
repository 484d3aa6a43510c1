/**
 * Updates the planner's statistics of the tables that have a row per company.
 *
 * If the statistics are older than a migration, the planner expects only one row of the migration in each table. To
 * join companies with credentials, it then compares each company with each credential. The time for this grows with the
 * square of the number of companies. Code that adds many rows therefore updates the statistics. Autovacuum would also
 * do so, but about a minute later.
 *
 * The option `skip_locked` skips a table that is being vacuumed or analyzed, so that the caller does not wait.
 */
import { sql } from 'kysely';
import type { Queryable } from './database';

/** Updates the statistics after rows were added to `companies`. Can be used in the transaction that added them. */
export async function analyzeCompanies(db: Queryable): Promise<void> {
  await sql`analyze (skip_locked) companies`.execute(db);
}

/** Updates the statistics after rows were added to `credentials`. Can be used in the transaction that added them. */
export async function analyzeCredentials(db: Queryable): Promise<void> {
  await sql`analyze (skip_locked) credentials`.execute(db);
}
