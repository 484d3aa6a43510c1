/** The schema migration for vault secrets, which are outside Postgres so that they can be erased. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const erasableVaults: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Id of the vault secret. The vault secret and the master key together wrap the private key. The secret itself is
    // stored outside Postgres, where it can be erased. In an open vault, null means that an earlier version wrapped the
    // key without a secret.
    await sql`alter table migrations add column vault_secret_id text`.execute(db);
    // ANALYZE stores samples of a column unless its statistics target is 0.
    await sql`alter table credentials alter column sealed set statistics 0`.execute(db);
    await sql`alter table migrations alter column vault_wrapped_key set statistics 0`.execute(db);
    // Changing a column's type removes its existing samples, even if the type stays the same. Only a superuser could
    // delete the samples from pg_statistic directly.
    await sql`alter table credentials alter column sealed type bytea using sealed || ''::bytea`.execute(db);
    await sql`alter table migrations alter column vault_wrapped_key type bytea using vault_wrapped_key || ''::bytea`.execute(
      db,
    );
  },
};
