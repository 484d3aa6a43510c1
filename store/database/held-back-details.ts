/** The schema migrations that separate what the client reads about problems from what support reads. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const heldBackDetails: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The text of `held_back` with the names of other clients' migrations, for support. Null if it is the same.
    await sql`alter table companies add column held_back_details text`.execute(db);
    // Replace these names in `held_back`, which the client reads. Earlier versions stored them there.
    await sql`
      update companies
      set held_back_details = held_back,
        held_back = regexp_replace(held_back, ' is already part of migration [^ ;]+',
          ' is already part of another open migration; leave this company out, or ask support', 'g')
      where held_back like '% is already part of migration %'`.execute(db);
  },
};

export const preflightTexts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The problems and warnings of the latest preflight with the names of other clients' migrations, for support. Null
    // if they contain none. The workflow's state, which the client can read in Temporal, has the texts without them.
    await sql`alter table migrations add column preflight_texts jsonb`.execute(db);
  },
};
