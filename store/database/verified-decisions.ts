/** The schema migration for decisions that the ledger verifies, and for the companies that they release. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const verifiedDecisions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        -- Who can decide, and what a decision needs. Fixed when the migration is created. Null if
        -- an older version created the migration; the ledger then accepts no more decisions.
        add column decision_rules jsonb,
        -- The companies that can be claimed. Only recorded decisions change it.
        add column released text not null default 'nothing' check (released in ('nothing', 'first-company', 'all')),
        -- The reference of the company that was requested as the first company. Null: the first
        -- company that can be moved is chosen.
        add column requested_first text,
        -- The row that was chosen to go first. Only this row can be claimed while only the first company is released.
        add column first_row integer`.execute(db);
    await sql`
      alter table decisions
        -- True if the ledger has verified the decision: its role, its order and, where required, its signature.
        add column verified boolean not null default false`.execute(db);
    await sql`
      -- Credentials whose decision the ledger has not recorded yet. If the ledger records the
      -- decision with this id as applied, they become the credentials in use. If it records the
      -- decision as refused, they are deleted.
      create table staged_credentials (
        like credentials including defaults,
        decision_id text not null,
        primary key (migration_id, row, decision_id),
        foreign key (migration_id, row) references companies (migration_id, row) on delete cascade
      )`.execute(db);
    // ANALYZE stores samples of a column unless its statistics target is 0.
    await sql`alter table staged_credentials alter column sealed set statistics 0`.execute(db);
  },
};
