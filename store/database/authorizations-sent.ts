/** The schema migration for the number of send intents, and of tries that only read the connection. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const authorizationsSent: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The number of send intents since the claim. `authorization_sent_again` stays, because workers of the previous
    // version read it.
    await sql`alter table companies add column authorizations_sent integer not null default 0`.execute(db);
    await sql`
      update companies set authorizations_sent = 1 + authorization_sent_again::integer
      where authorization_sent_at is not null`.execute(db);
    // The number of tries that could only read the connection, because the authorization might have been in flight.
    await sql`alter table companies add column tries_in_flight integer not null default 0`.execute(db);
  },
};
