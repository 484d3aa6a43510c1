/** The schema migration for sealed files: signatures of vaults' keys, and the sealed client secrets of applications. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const sealedFiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        -- Public key of the provider key that signed the vault's public key, and its signature.
        -- Null if an earlier version opened the vault.
        add column vault_signed_by text,
        add column vault_signature text`.execute(db);
    // The client secrets that clients have sealed. A row is deleted once a worker has registered the application with
    // the service, or once that is not possible any more, for example because its decision was refused.
    await sql`
      create table sealed_applications (
        migration_id text not null references migrations (id) on delete cascade,
        decision_id text not null,
        client_id text not null,
        environment text not null,
        sealed bytea not null,
        supplied_at timestamptz not null default now(),
        primary key (migration_id, decision_id)
      )`.execute(db);
    await sql`alter table sealed_applications alter column sealed set statistics 0`.execute(db);
  },
};
