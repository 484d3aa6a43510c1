/**
 * The types of the orchestrator's tables that Kysely's query builder reads. The columns are documented in the schema
 * migrations: schema-migrations.ts and the files that it imports.
 */
import type { ColumnType, Generated } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import type { Decision, Unreadable } from '../../domain/migration/decision';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { SignedMessage } from '../../domain/migration/signatures';
import type { FailureKind, OutageSource, StopReason } from '../../domain/companies/failures';
import type { PlannedEstimate } from '../../domain/planning/estimate';
import type { Evidence, ServiceAnswer, SyncSchedule } from '../../domain/companies/evidence';
import type { Release } from '../../domain/decisions/release';
import type { DecisionRules } from '../../domain/migration/plan';
import type { Ending } from '../../domain/migration/migration-state';
import type { MigrationLimits } from '../../domain/planning/limits';
import type { PreflightTexts } from '../../domain/migration/preflight-result';
import type { ApplicationFacts } from '../../domain/preflight/applications';
import type { Route } from '../../platforms/platforms';

/** A JSON column, which is read as a value and written as JSON text. */
type Json<T> = ColumnType<T, string, string>;

interface MigrationTable {
  id: string;
  client: string;
  platform_key: string;
  contact: string;
  route: Route;
  rotating: boolean;
  state: 'supplied' | 'open' | 'closed';
  paused: Generated<boolean>;
  paused_itself: Generated<boolean>;
  paused_by_people: Generated<boolean>;
  records_in_total: number | null;
  limits: Json<MigrationLimits>;
  manifest_digest: string;
  supplied_by: string;
  supplied_at: Generated<Date>;
  current_run: string | null;
  planned: Json<PlannedEstimate> | null;
  ramp_only: Generated<boolean>;
  window_opens_at: Date | null;
  window_closes_at: Date | null;
  vault_public_key: Buffer | null;
  vault_key_id: string | null;
  vault_secret_id: string | null;
  vault_wrapped_key: Buffer | null;
  vault_destroyed_at: Date | null;
  vault_signed_by: string | null;
  vault_signature: string | null;
  closed_at: Date | null;
  ending: Ending | null;
  /** Null for migrations that were supplied before this column existed. */
  namespace: string | null;
  decision_rules: Json<DecisionRules> | null;
  released: Generated<Release>;
  requested_first: string | null;
  reconnections_checked_at: Date | null;
  first_row: number | null;
  behind_since: Date | null;
  behind_unproven: Generated<boolean>;
  application: Json<ApplicationFacts> | null;
  preflight_texts: Json<PreflightTexts> | null;
}

interface CompanyTable {
  migration_id: string;
  row: number;
  reference: string;
  name: string;
  platform_key: string;
  organization: string;
  organization_open: Generated<boolean>;
  family: string | null;
  wave: number | null;
  expected_invoices: number | null;
  state: Generated<CompanyState>;
  confirmed_at: Date | null;
  confirmed_by: string | null;
  not_before: Date | null;
  tries: Generated<number>;
  attempt: string | null;
  claimed_at: Date | null;
  first_claimed_at: Date | null;
  outcome_at: Date | null;
  company_id: string | null;
  connection_id: string | null;
  stored_name: string | null;
  link_url: string | null;
  sync_started_at: Date | null;
  next_check_at: Date | null;
  checks: Generated<number>;
  moved_at: Date | null;
  failure: FailureKind | null;
  failure_text: string | null;
  correlation_id: string | null;
  evidence: Json<readonly Evidence[]> | null;
  in_ramp: Generated<boolean>;
  held_back: string | null;
  held_back_details: string | null;
  failure_accepted: Generated<boolean>;
  left_out_by: string | null;
  left_out_reason: string | null;
  relinking_since: Date | null;
  authorization_sent_at: Date | null;
  authorization_sent_again: Generated<boolean>;
  authorizations_sent: Generated<number>;
  tries_in_flight: Generated<number>;
  earlier_sent_at: Date | null;
  lease_ends_at: Date | null;
  crossed_at: Date | null;
  authorized_at: Date | null;
  authorization_checked_at: Date | null;
  unlinked_at: Date | null;
  accepted: Json<ServiceAnswer> | null;
  import_ms: number | null;
  sync_ms: number | null;
  sync_schedule: Json<SyncSchedule> | null;
  named: 'company' | 'connection' | null;
}

interface SpeedTable {
  platform_key: string;
  import_ms: number;
  sync_base_ms: number;
  ms_per_record: number;
  companies: number;
}

interface CredentialTable {
  migration_id: string;
  row: number;
  sealed: Buffer;
  obtained_at: Date;
  supplied_by: string;
  supplied_at: Generated<Date>;
  crossed_at: Date | null;
  supersedes: Generated<boolean>;
}

/** Credentials whose decision the ledger has not recorded yet. */
interface StagedCredentialTable extends CredentialTable {
  decision_id: string;
}

/** Client secrets of applications, sealed, until a worker has registered them with the service. */
interface SealedApplicationTable {
  migration_id: string;
  decision_id: string;
  client_id: string;
  environment: 'production' | 'sandbox';
  sealed: Buffer;
  supplied_at: Generated<Date>;
}

/** Rows of manifests whose decision the ledger has not recorded yet. */
interface StagedManifestTable {
  migration_id: string;
  decision_id: string;
  part: number;
  rows: Json<readonly ManifestRow[]>;
  bytes: number;
  supplied_by: string;
  staged_at: Generated<Date>;
}

interface SliceTable {
  migration_id: string;
  run: string;
  slice: number;
  attempt: number;
}

interface LedgerMarkTable {
  migration_id: string;
  source: string;
  mark: number;
}

interface DecisionTable {
  position: Generated<number>;
  migration_id: string;
  decision_id: string;
  at: Date;
  role: string | null;
  by_whom: string | null;
  content: Json<Decision | Unreadable>;
  applied: boolean;
  text: string;
  signed: Json<SignedMessage> | null;
  verified: Generated<boolean>;
  recorded_at: Generated<Date>;
}

interface StoppageTable {
  position: Generated<number>;
  migration_id: string;
  kind: 'pause' | 'outage';
  stop: StopReason | null;
  source: OutageSource | null;
  why: string;
  began_at: Date | null;
  ended_at: Date | null;
}

interface PortalInvitationTable {
  id: string;
  migration_id: string;
  person: string;
  role: 'client' | 'viewer';
  email: string | null;
  token_hash: Buffer | null;
  issuer: string | null;
  subject: string | null;
  created_by: string;
  created_at: Generated<Date>;
  expires_at: Date;
  redeemed_at: Date | null;
  public_key: string | null;
  key_confirmed_at: Date | null;
  revoked_at: Date | null;
  revoked_by: string | null;
}

interface PortalSessionTable {
  session_hash: Buffer;
  invitation_id: string;
  created_at: Generated<Date>;
  last_used_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
}

interface PortalRequestTable {
  id: string;
  invitation_id: string;
  migration_id: string;
  kind: 'decide' | 'credentials' | 'application' | 'manifest' | 'report';
  body: Json<unknown> | null;
  bytes: number;
  created_at: Generated<Date>;
  position: Generated<number>;
  due_at: Generated<Date>;
  attempts: Generated<number>;
  answer: Json<unknown> | null;
  answered_at: Date | null;
  is_given_up: Generated<boolean>;
}

interface PortalViewTable {
  migration_id: string;
  view: Json<unknown> | null;
  version: Generated<number>;
  written_at: Date | null;
  watched_at: Generated<Date>;
  taken_at: Date | null;
  attempts: Generated<number>;
}

export interface Tables {
  migrations: MigrationTable;
  companies: CompanyTable;
  credentials: CredentialTable;
  staged_credentials: StagedCredentialTable;
  sealed_applications: SealedApplicationTable;
  staged_manifests: StagedManifestTable;
  speeds: SpeedTable;
  slices: SliceTable;
  ledger_marks: LedgerMarkTable;
  decisions: DecisionTable;
  stoppages: StoppageTable;
  portal_invitations: PortalInvitationTable;
  portal_sessions: PortalSessionTable;
  portal_requests: PortalRequestTable;
  portal_views: PortalViewTable;
}
