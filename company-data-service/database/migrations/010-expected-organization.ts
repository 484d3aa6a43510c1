import { sql, type Kysely, type Migration } from 'kysely';

export const expectedOrganization: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table connections add column expected_organization text`.execute(db);
  },
};
