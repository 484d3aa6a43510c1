/**
 * The schema migrations for send intents. They record repetitions, the time of a cleared send intent, and the number of
 * send intents.
 */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

/** Records that a lost answer made an attempt send an authorization again. */
export const authorizationsSentAgain: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // True if an attempt that reclaimed the company sent its authorization again, because an answer was lost.
    await sql`alter table companies add column authorization_sent_again boolean not null default false`.execute(db);
  },
};

/** Keeps the time of a send intent that a later claim has cleared. */
export const earlierSendIntents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The latest send intent from before the current claim. A claim clears `authorization_sent_at`. The earlier time is
    // still needed, because a credential that might have been sent once must not be sent to another connection.
    await sql`alter table companies add column earlier_sent_at timestamptz`.execute(db);
  },
};

/** Counts the send intents, and the tries that only read the connection. */
export const authorizationsSent: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The number of attempts that have recorded a send intent since the claim. The column `authorization_sent_again` is
    // kept, because workers of versions without this column read it.
    await sql`alter table companies add column authorizations_sent integer not null default 0`.execute(db);
    await sql`
      update companies set authorizations_sent = 1 + authorization_sent_again::integer
      where authorization_sent_at is not null`.execute(db);
    // The number of tries that could only read the connection, because the authorization might have been in flight.
    await sql`alter table companies add column tries_in_flight integer not null default 0`.execute(db);
  },
};
