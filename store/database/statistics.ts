/**
 * The planner's statistics of the tables that have a row per company.
 *
 * With statistics that are older than a migration, the planner expects a single row of this migration in each table. It
 * then compares each company with each credential to join them, which takes time in proportion to the square of the
 * number of companies. So the code that adds many rows updates the statistics. Autovacuum would do so, but about a
 * minute later.
 *
 * `skip_locked`: a table that is being vacuumed or analyzed at the same time is left out, so nothing has to wait.
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
