/** The schema migration that keeps the time of each company's first claim. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const firstClaims: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // When the company was claimed for the first time. Never changed, while every claim overwrites `claimed_at`. Null
    // if the company has not been claimed since this column was added; `claimed_at` is then the only known time.
    await sql`alter table companies add column first_claimed_at timestamptz`.execute(db);
  },
};
