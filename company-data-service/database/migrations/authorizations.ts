/**
 * The authorization of connections: encrypted secrets, token exchanges, the organization that is expected, and the time
 * of the last authorization.
 */
import { sql } from 'kysely';
import { executing } from '../../../postgres/schema-migrations';

export const encryptedCredentials = executing(
  // A schema migration has no access to the service keys. Older secrets therefore stay in the plain columns until the
  // service encrypts them at its start (`encryptStoredSecrets`). In newer rows, the plain columns are null.
  sql`alter table credentials rename column fields to plain_fields`,
  sql`alter table credentials alter column plain_fields drop not null, add column encrypted_fields bytea`,
  sql`alter table applications rename column client_secret to plain_secret`,
  sql`alter table applications alter column plain_secret drop not null, add column encrypted_secret bytea`,
  // Postgres would otherwise copy sampled values into its statistics, where they stay after the row is deleted.
  sql`alter table credentials alter column encrypted_fields set statistics 0`,
  sql`alter table applications alter column encrypted_secret set statistics 0`,
);

export const tokenExchanges = executing(
  sql`create table token_exchanges (
    connection_id uuid not null references connections on delete cascade,
    -- SHA-256 of the authorization body.
    body_digest bytea not null,
    id uuid not null default gen_random_uuid(),
    begun_at timestamptz(3) not null default clock_timestamp(),
    primary key (connection_id, body_digest)
  )`,
  sql`create index token_exchanges_by_age on token_exchanges (begun_at)`,
  sql`alter table sandbox_tokens add column exchange_id uuid, add column successor_digest bytea`,
);

export const expectedOrganization = executing(sql`alter table connections add column expected_organization text`);

export const lastAuthorization = executing(
  // Null for a connection that has never been authorized, or was last authorized by an earlier version.
  sql`alter table connections add column authorized_at timestamptz(3)`,
);
