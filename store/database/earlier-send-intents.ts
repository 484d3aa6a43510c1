/** The schema migration for send intents that a later claim has cleared. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const earlierSendIntents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The last send intent before the current claim. A claim clears `authorization_sent_at`, but a credential that was
    // sent once is never sent to another connection.
    await sql`alter table companies add column earlier_sent_at timestamptz`.execute(db);
  },
};
