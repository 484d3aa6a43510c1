/**
 * Schema migrations, in order. A released schema migration is never changed. To change the schema, add a new schema
 * migration at the end.
 *
 * In the comments below, "migration" means a migration of companies. The type `Migration` is Kysely's.
 */
import { sql, type Migration } from 'kysely';
import { executing } from '../../postgres/schema-migrations';
import {
  authorizationsSent,
  authorizationsSentAgain,
  earlierSendIntents,
  erasableVaults,
  firstClaims,
  outcomeTimes,
  heldBackDetails,
  ledgerMarks,
  ledgerRules,
  preflightTexts,
  sealedFiles,
  stoppages,
  verifiedDecisions,
} from './schema-additions';
import { crossedInPortal, portal, searchWithoutAccents, signInWaits } from './portal';
import { registeredApplications, replacedApplications } from './replaced-applications';

const createLedger = executing(
  sql`
    create table migrations (
      id text primary key,
      client text not null,
      platform_key text not null,
      contact text not null,
      -- True in the managed route if the platform replaces refresh tokens on use. If true, only
      -- credentials obtained after the confirmation count.
      rotating boolean not null,
      -- supplied: the manifest is stored, but no workflow has started; open: the workflow is running; closed: no
      -- company can be claimed.
      state text not null check (state in ('supplied', 'open', 'closed')),
      paused boolean not null default false,
      limits jsonb not null,
      manifest_digest text not null,
      supplied_by text not null,
      supplied_at timestamptz not null default now(),
      -- The only run whose slices can claim companies: a batch run, or the first company's move.
      current_run text,
      -- Null if the migration has no windows: moves can begin at any time.
      window_opens_at timestamptz,
      window_closes_at timestamptz,
      -- Credentials are sealed with the public key. The private key is wrapped by the master key with this id.
      vault_public_key bytea,
      vault_key_id text,
      vault_wrapped_key bytea,
      vault_destroyed_at timestamptz,
      closed_at timestamptz,
      ending text check (ending in ('completed', 'abandoned'))
    )`,
  sql`
    create table companies (
      migration_id text not null references migrations (id) on delete cascade,
      row integer not null,
      reference text not null,
      name text not null,
      platform_key text not null,
      organization text not null,
      organization_open boolean not null default true,
      family text,
      wave integer,
      expected_invoices integer,
      state text not null default 'waiting' check (state in
        ('waiting', 'importing', 'syncing', 'migrated', 'failed', 'skipped', 'excluded', 'outcome-unknown')),
      -- When the client confirmed that its own application no longer uses the token. Null: the company must not be
      -- imported.
      confirmed_at timestamptz,
      confirmed_by text,
      -- After a temporary failure, the company is not claimed before this time.
      not_before timestamptz,
      tries integer not null default 0,
      -- The lease owner while the company is importing (run/slice/attempt), and the time of the claim.
      attempt text,
      claimed_at timestamptz,
      company_id uuid,
      connection_id uuid,
      stored_name text,
      link_url text,
      sync_started_at timestamptz,
      next_check_at timestamptz,
      checks integer not null default 0,
      moved_at timestamptz,
      failure text,
      failure_text text,
      correlation_id text,
      evidence jsonb,
      primary key (migration_id, row),
      unique (migration_id, reference),
      constraint importing_was_confirmed check (state <> 'importing' or (confirmed_at is not null and attempt is not null))
    )`,
  sql`
    create unique index one_open_migration_per_organization
      on companies (platform_key, organization) where organization_open`,
  sql`
    create unique index one_importing_per_family
      on companies (migration_id, family) where state = 'importing' and family is not null`,
  sql`create index companies_by_state on companies (migration_id, state, confirmed_at, row)`,
  sql`
    create index companies_due on companies (migration_id, next_check_at) where state = 'syncing'`,
  sql`
    create table credentials (
      migration_id text not null,
      row integer not null,
      sealed bytea not null,
      -- When the client's application last received the credential. On a rotating platform, a credential obtained
      -- before the confirmation does not count.
      obtained_at timestamptz not null,
      supplied_by text not null,
      supplied_at timestamptz not null default now(),
      primary key (migration_id, row),
      foreign key (migration_id, row) references companies (migration_id, row) on delete cascade
    )`,
  sql`
    create table slices (
      migration_id text not null references migrations (id) on delete cascade,
      run text not null,
      slice integer not null,
      -- The latest attempt of this slice. Earlier attempts cannot claim companies.
      attempt integer not null,
      primary key (migration_id, run, slice)
    )`,
  sql`
    create table decisions (
      migration_id text not null references migrations (id),
      decision_id text not null,
      at timestamptz not null,
      role text not null,
      by_whom text not null,
      content jsonb not null,
      applied boolean not null,
      text text not null,
      recorded_at timestamptz not null default now(),
      primary key (migration_id, decision_id)
    )`,
  sql`
    create function refuse_to_change_the_audit_trail() returns trigger language plpgsql as
      $$ begin raise exception 'the audit trail is append-only'; end $$`,
  sql`
    create trigger the_audit_trail_is_append_only before update or delete on decisions
      for each row execute function refuse_to_change_the_audit_trail()`,
  sql`
    create trigger the_audit_trail_is_not_emptied before truncate on decisions
      for each statement execute function refuse_to_change_the_audit_trail()`,
);

const resolveExceptions = executing(
  sql`
    alter table migrations
      -- Total number of records of all companies. Used to estimate the records of companies whose
      -- row has no number of invoices.
      add column records_in_total integer,
      -- The estimate at the time when the start was proposed. The report compares it with the actual duration.
      add column planned jsonb,
      -- True while only companies of the ramp can be claimed.
      add column ramp_only boolean not null default false,
      drop constraint migrations_ending_check,
      add constraint migrations_ending_check check (ending in ('completed', 'abandoned', 'cancelled'))`,
  sql`
    alter table companies
      -- The company belongs to the ramp, so it moves before the other companies.
      add column in_ramp boolean not null default false,
      -- Why the company must not be imported: it has not been checked yet, or the preflight found this problem. Null:
      -- it can be imported.
      add column held_back text,
      -- Who excluded or skipped the company, and why.
      add column settled_by text,
      add column settled_reason text,
      -- True if the migration was resumed despite this failure. The failure then no longer counts
      -- towards the limits on failures.
      add column failure_accepted boolean not null default false,
      -- When the end customer was asked to reconnect.
      add column relinking_since timestamptz,
      -- The send intent, written immediately before the credential is sent. Null: the credential
      -- was not sent, or was certainly not used.
      add column authorization_sent_at timestamptz,
      -- End of the lease. No request of the attempt can be in flight after this time.
      add column held_until timestamptz,
      -- When the service accepted a credential. From then on only the service may refresh it. Never reset.
      add column crossed_at timestamptz,
      -- The response with which the service accepted the credential, as evidence.
      add column accepted jsonb,
      -- Milliseconds from the claim to the start of the sync, and from the start of the sync to its verification.
      add column import_ms integer,
      add column sync_ms integer,
      -- The service's sync schedule of the company when it was verified.
      add column sync_schedule jsonb`,
  sql`
    alter table credentials
      -- When the service accepted this credential. From then on only the service may use it.
      add column crossed_at timestamptz,
      -- True if this credential replaces a credential that the service might have accepted. This
      -- credential is then sent even if the connection is linked.
      add column supersedes boolean not null default false`,
  sql`
    alter table decisions
      -- The order of the decisions. Several decisions can have the same time.
      add column position bigint generated always as identity,
      -- Null if an unreadable message does not name its sender.
      alter column role drop not null,
      alter column by_whom drop not null`,
  sql`
    -- The speed that the latest migration of each platform measured. Later estimates start from
    -- this speed.
    create table speeds (
      platform_key text primary key,
      -- Milliseconds: the mean time of an import, the time of a sync without records, and the
      -- time that each record adds to a sync.
      import_ms double precision not null,
      sync_base_ms double precision not null,
      ms_per_record double precision not null,
      companies integer not null
    )`,
);

const indexClaims = executing(
  sql`
    create index companies_to_claim on companies (migration_id, wave, confirmed_at, row)
      where state = 'waiting' and confirmed_at is not null and held_back is null`,
  sql`
    create index companies_by_family on companies (migration_id, family) where family is not null`,
);

const addSelfServiceRoute = executing(
  sql`
    alter table migrations
      add column route text not null default 'managed' check (route in ('managed', 'self-service'))`,
  sql`
    alter table companies
      -- Set if the company already existed at the service: the client supplied the company id, or the company id and
      -- the connection id.
      add column named text check (named in ('company', 'connection')),
      add constraint named_is_known check (named is null or company_id is not null)`,
);

const signedDecisions = executing(
  // The signed message with its signature. Anyone who has the public key can verify the signature.
  sql`alter table decisions add column signed jsonb`,
);

const namespaces = executing(
  // The Temporal namespace of the workflow; null if it is not recorded. Several namespaces can share a ledger, and a
  // sweep closes no migration of another namespace.
  sql`alter table migrations add column namespace text`,
);

const renameForVersion1 = executing(
  sql`alter table companies drop constraint companies_state_check`,
  sql`update companies set state = 'moved' where state = 'migrated'`,
  sql`
    alter table companies add constraint companies_state_check check (state in
      ('waiting', 'importing', 'syncing', 'moved', 'failed', 'skipped', 'excluded', 'outcome-unknown'))`,
  sql`alter table companies rename column settled_by to left_out_by`,
  sql`alter table companies rename column settled_reason to left_out_reason`,
  sql`alter table companies rename column held_until to lease_ends_at`,
);

export const SCHEMA_MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-the-ledger': createLedger,
  '0002-settling-exceptions': resolveExceptions,
  '0003-claims-in-order': indexClaims,
  '0004-the-self-service-route': addSelfServiceRoute,
  '0005-signed-decisions': signedDecisions,
  '0006-namespaces': namespaces,
  '0007-names-of-1-0': renameForVersion1,
  '0008-verified-decisions': verifiedDecisions,
  '0009-ledger-marks': ledgerMarks,
  '0010-erasable-vaults': erasableVaults,
  '0011-authorizations-sent-again': authorizationsSentAgain,
  '0012-ledger-rules': ledgerRules,
  '0013-earlier-send-intents': earlierSendIntents,
  '0014-authorizations-sent': authorizationsSent,
  '0015-registered-applications': registeredApplications,
  '0016-sealed-files': sealedFiles,
  '0017-portal': portal,
  '0018-replaced-applications': replacedApplications,
  '0019-held-back-details': heldBackDetails,
  '0020-search-without-accents': searchWithoutAccents,
  '0021-crossed-in-portal': crossedInPortal,
  '0022-stoppages': stoppages,
  '0023-preflight-texts': preflightTexts,
  '0024-first-claims': firstClaims,
  '0025-sign-in-waits': signInWaits,
  '0026-outcome-times': outcomeTimes,
};
