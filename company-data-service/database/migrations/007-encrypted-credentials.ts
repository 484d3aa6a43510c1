import { sql, type Kysely, type Migration } from 'kysely';

export const encryptedCredentials: Migration = {
  async up(db: Kysely<unknown>) {
    // A schema migration has no access to the service keys. Until the service encrypts older secrets at
    // its start (`encryptStoredSecrets`), they stay in the plain columns, which are null in all newer rows.
    await sql`alter table credentials rename column fields to plain_fields`.execute(db);
    await sql`alter table credentials alter column plain_fields drop not null, add column encrypted_fields bytea`.execute(
      db,
    );
    await sql`alter table applications rename column client_secret to plain_secret`.execute(db);
    await sql`alter table applications alter column plain_secret drop not null, add column encrypted_secret bytea`.execute(
      db,
    );
    // Postgres would otherwise copy sampled values into its statistics, where they stay after the row is deleted.
    await sql`alter table credentials alter column encrypted_fields set statistics 0`.execute(db);
    await sql`alter table applications alter column encrypted_secret set statistics 0`.execute(db);
  },
};
