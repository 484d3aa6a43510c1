/** The schema migration for the ledger's mark, which shows whether a ledger was restored to an older state. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const ledgerMarks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      -- The mark of a migration is the sum of its rows: the number of claims and recorded decisions. Each slice has a
      -- row of its own, so that slices do not wait for one another. See store/migrations/ledger-mark.ts.
      create table ledger_marks (
        migration_id text not null references migrations (id) on delete cascade,
        source text not null,
        mark bigint not null,
        primary key (migration_id, source)
      ) with (fillfactor = 50)`.execute(db);
    // The time at which the ledger was found to be behind its workflow or the service. No company can be claimed while
    // this is set.
    await sql`alter table migrations add column behind_since timestamptz`.execute(db);
  },
};
