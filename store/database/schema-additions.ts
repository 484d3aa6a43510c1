/** Schema migrations that only execute statements. */
import { sql } from 'kysely';
import { executing } from '../../postgres/schema-migrations';

export const verifiedDecisions = executing(
  sql`
    alter table migrations
      -- Who can decide, and what a decision needs. Fixed when the migration is created. Null if
      -- an older version created the migration; the ledger then accepts no more decisions.
      add column decision_rules jsonb,
      -- The companies that can be claimed. Only recorded decisions change it.
      add column released text not null default 'nothing' check (released in ('nothing', 'first-company', 'all')),
      -- The reference of the company that was requested as the first company. Null: the first
      -- company that can be moved is chosen.
      add column requested_first text,
      -- The row that was chosen to go first. Only this row can be claimed while only the first company is released.
      add column first_row integer`,
  sql`
    alter table decisions
      -- True if the ledger has verified the decision: its role, its order and, where required, its signature.
      add column verified boolean not null default false`,
  sql`
    -- Credentials whose decision the ledger has not recorded yet. If the ledger records the
    -- decision with this id as applied, they become the credentials in use. If it records the
    -- decision as refused, they are deleted.
    create table staged_credentials (
      like credentials including defaults,
      decision_id text not null,
      primary key (migration_id, row, decision_id),
      foreign key (migration_id, row) references companies (migration_id, row) on delete cascade
    )`,
  // ANALYZE stores samples of a column unless its statistics target is 0.
  sql`alter table staged_credentials alter column sealed set statistics 0`,
);

export const ledgerMarks = executing(
  sql`
    -- The mark of a migration is the sum of the marks in its rows. Each slice has its own row, so
    -- that slices do not wait for one another. See store/migrations/ledger-mark.ts.
    create table ledger_marks (
      migration_id text not null references migrations (id) on delete cascade,
      source text not null,
      mark bigint not null,
      primary key (migration_id, source)
    ) with (fillfactor = 50)`,
  // The time at which the ledger was flagged as behind its workflow or the service. No company can be claimed while
  // this time is set.
  sql`alter table migrations add column behind_since timestamptz`,
);

export const ledgerRules = executing(
  sql`
    alter table migrations
      -- True if the migration is paused because of a problem. Only support (in the self-service
      -- route, also the client) can lift this pause.
      add column paused_itself boolean not null default false,
      -- True if the ledger is flagged as behind only because a reconciliation was requested.
      -- False if the mark or the service has shown that it is behind.
      add column behind_unproven boolean not null default false`,
);

export const erasableVaults = executing(
  // Id of the vault secret. The vault secret and the master key together wrap the private key. The secret itself is
  // stored outside Postgres, where it can be erased. In an open vault, null means that an earlier version wrapped the
  // key without a secret.
  sql`alter table migrations add column vault_secret_id text`,
  // ANALYZE stores samples of a column unless its statistics target is 0.
  sql`alter table credentials alter column sealed set statistics 0`,
  sql`alter table migrations alter column vault_wrapped_key set statistics 0`,
  // Changing a column's type removes its existing samples, even if the type stays the same. Only a superuser could
  // delete the samples from pg_statistic directly.
  sql`alter table credentials alter column sealed type bytea using sealed || ''::bytea`,
  sql`alter table migrations alter column vault_wrapped_key type bytea using vault_wrapped_key || ''::bytea`,
);

export const authorizationsSentAgain = executing(
  // True if an attempt that reclaimed the company sent its authorization again, because an answer was lost.
  sql`alter table companies add column authorization_sent_again boolean not null default false`,
);

export const earlierSendIntents = executing(
  // The latest send intent from before the current claim. A claim clears `authorization_sent_at`. The earlier time is
  // still needed, because a credential that might have been sent once must not be sent to another connection.
  sql`alter table companies add column earlier_sent_at timestamptz`,
);

export const authorizationsSent = executing(
  // The number of attempts that have recorded a send intent since the claim. The column `authorization_sent_again` is
  // kept, because workers of versions without this column read it.
  sql`alter table companies add column authorizations_sent integer not null default 0`,
  sql`
    update companies set authorizations_sent = 1 + authorization_sent_again::integer
    where authorization_sent_at is not null`,
  // The number of tries that could only read the connection, because the authorization might have been in flight.
  sql`alter table companies add column tries_in_flight integer not null default 0`,
);

export const sealedFiles = executing(
  sql`
    alter table migrations
      -- Public key of the provider key that signed the vault's public key, and its signature.
      -- Null if an earlier version opened the vault.
      add column vault_signed_by text,
      add column vault_signature text`,
  // The client secrets that clients have sealed. A row is deleted once a worker has registered the application with
  // the service, or once that is not possible any more, for example because its decision was refused.
  sql`
    create table sealed_applications (
      migration_id text not null references migrations (id) on delete cascade,
      decision_id text not null,
      client_id text not null,
      environment text not null,
      sealed bytea not null,
      supplied_at timestamptz not null default now(),
      primary key (migration_id, decision_id)
    )`,
  sql`alter table sealed_applications alter column sealed set statistics 0`,
);

export const heldBackDetails = executing(
  // The text of `held_back` with the names of other clients' migrations, for support. Null if it is the same.
  sql`alter table companies add column held_back_details text`,
  // Replace these names in `held_back`, which the client reads. Earlier versions stored them there.
  sql`
    update companies
    set held_back_details = held_back,
      held_back = regexp_replace(held_back, ' is already part of migration [^ ;]+',
        ' is already part of another open migration; leave this company out, or ask support', 'g')
    where held_back like '% is already part of migration %'`,
);

export const preflightTexts = executing(
  // The problems and warnings of the latest preflight with the names of other clients' migrations, for support. Null
  // if they contain none. The workflow's state, which the client can read in Temporal, has the texts without them.
  sql`alter table migrations add column preflight_texts jsonb`,
);

export const stoppages = executing(
  sql`
    create table stoppages (
      position bigint generated always as identity primary key,
      migration_id text not null references migrations (id) on delete cascade,
      kind text not null check (kind in ('pause', 'outage')),
      -- Why the migration paused itself. Null for an outage, or if it is not known.
      stop text,
      -- What did not respond. Null for a pause.
      source text check (source in ('service', 'platform')),
      -- The reason for support: what to do about the pause, or the error of a call.
      why text not null,
      -- Null while a slice has reported why the migration must pause, and the migration has not paused yet.
      began_at timestamptz,
      -- When a slice or a probe last reported the outage. An outage began earlier, with the work on the first
      -- deferred company. Unused for a pause.
      reported_at timestamptz not null default clock_timestamp(),
      -- Null while the stoppage continues.
      ended_at timestamptz,
      constraint outages_begin_at_once check (kind = 'pause' or (began_at is not null and source is not null)),
      constraint stoppages_begin_before_they_end check (ended_at is null or began_at is not null)
    )`,
  sql`create index stoppages_by_migration on stoppages (migration_id, position)`,
  sql`
    create unique index one_reported_pause on stoppages (migration_id) where kind = 'pause' and began_at is null`,
  sql`
    create unique index one_open_outage on stoppages (migration_id) where kind = 'outage' and ended_at is null`,
);

export const firstClaims = executing(
  // When the company was claimed for the first time. Never changed, while every claim overwrites `claimed_at`. Null
  // if the company has not been claimed since this column was added; `claimed_at` is then the only known time.
  sql`alter table companies add column first_claimed_at timestamptz`,
);

export const outcomeTimes = executing(
  // When the company got its present outcome: it has moved, failed, or its outcome became unknown. Null if it has none,
  // or has had it since before this column was added.
  sql`alter table companies add column outcome_at timestamptz`,
);
