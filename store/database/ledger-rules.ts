/** The schema migration for two flags: the migration paused itself, and nothing has proven that its ledger is behind. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const ledgerRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        -- True if the migration is paused because of a problem. Then only support (in the self-service route, also the client) can resume it.
        add column paused_itself boolean not null default false,
        -- True if only a reconciliation has flagged the ledger as behind, and nothing has shown that it really is.
        add column behind_unproven boolean not null default false`.execute(db);
  },
};
