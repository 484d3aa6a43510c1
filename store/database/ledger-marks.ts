/** The schema migrations for the ledger's mark, for the flags of a ledger that is behind, and for automatic pauses. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

/** Adds the mark, which shows whether a ledger was restored to an older state. */
export const ledgerMarks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      -- The mark of a migration is the sum of the marks in its rows. Each slice has its own row, so
      -- that slices do not wait for one another. See store/migrations/ledger-mark.ts.
      create table ledger_marks (
        migration_id text not null references migrations (id) on delete cascade,
        source text not null,
        mark bigint not null,
        primary key (migration_id, source)
      ) with (fillfactor = 50)`.execute(db);
    // The time at which the ledger was flagged as behind its workflow or the service. No company can be claimed while
    // this time is set.
    await sql`alter table migrations add column behind_since timestamptz`.execute(db);
  },
};

/**
 * Adds two flags: one for a migration that paused itself, and one for a ledger that is flagged as behind without proof.
 */
export const ledgerRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        -- True if the migration is paused because of a problem. Only support (in the self-service
        -- route, also the client) can lift this pause.
        add column paused_itself boolean not null default false,
        -- True if the ledger is flagged as behind only because a reconciliation was requested.
        -- False if the mark or the service has shown that it is behind.
        add column behind_unproven boolean not null default false`.execute(db);
  },
};
