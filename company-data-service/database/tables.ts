import type { ColumnType, Generated, JSONColumnType } from 'kysely';

export type Plan = 'trial' | 'free' | 'paid';
export type Role = 'client' | 'administrator';
export type ConnectionStatus = 'PendingAuth' | 'Linked' | 'Unlinked' | 'Deauthorized';

/** An error from the platform, as the API returns it in `dataConnectionErrors`. */
export interface ConnectionError {
  statusCode: string;
  statusText: string;
  errorMessage: string;
  erroredOnUtc: string;
  status: 'Active' | 'Resolved';
}

type GeneratedDate = ColumnType<Date, Date | undefined, Date>;

interface AccountTable {
  id: Generated<string>;
  name: string;
  plan: Plan;
  created_at: GeneratedDate;
}

interface ApiKeyTable {
  id: Generated<string>;
  account_id: string;
  role: Role;
  state: Generated<'active' | 'outdated'>;
  /** SHA-256 of the key. No slower hash is needed, because a key has 256 random bits. */
  digest: Buffer;
  created_at: GeneratedDate;
}

interface CompanyTable {
  id: Generated<string>;
  account_id: string;
  name: string;
  description: string | null;
  tags: JSONColumnType<Record<string, string>>;
  created_at: GeneratedDate;
  /** When the name, the description or the tags last changed. */
  modified_at: GeneratedDate;
}

interface ConnectionTable {
  id: Generated<string>;
  company_id: string;
  platform_key: string;
  source_id: Generated<string>;
  status: Generated<ConnectionStatus>;
  /**
   * Data types of the company's organization at the platform; before the connection is first linked, the platform's
   * data types.
   */
  data_types: string[];
  organization_id: string | null;
  organization_name: string | null;
  /**
   * The organization that the last refused credential named. When the end customer consents, the sandbox connects this
   * organization, unless the end customer selects another organization or the connection already has one.
   */
  expected_organization: string | null;
  errors: JSONColumnType<ConnectionError[], string | undefined>;
  /** When the platform last accepted a credential. */
  authorized_at: Date | null;
  created_at: GeneratedDate;
}

/** Kept separate from `connections`, so that code that reads a connection does not get its tokens. */
interface CredentialTable {
  connection_id: string;
  /** The authorization body, with the tokens of the last refresh. JSON, encrypted. */
  encrypted_fields: Buffer;
  /** SHA-256 of the last accepted body, so that the same body is not used twice. */
  accepted_digest: Buffer;
}

/** Refreshes whose new tokens are not stored yet: see token-exchanges.ts. */
interface TokenExchangeTable {
  connection_id: string;
  body_digest: Buffer;
  id: Generated<string>;
  begun_at: GeneratedDate;
}

interface ApplicationTable {
  account_id: string;
  platform_key: string;
  client_id: string;
  encrypted_secret: Buffer;
  environment: 'production' | 'sandbox';
}

interface SyncTable {
  id: Generated<string>;
  company_id: string;
  connection_id: string;
  data_type: string;
  status: Generated<string>;
  error_message: string | null;
  requested_at: GeneratedDate;
  completed_at: Date | null;
  progress: Generated<number>;
  /**
   * Cursor of the platform's next page; null before the platform's first response, and once the sync has completed or
   * failed.
   */
  cursor: string | null;
  /** When the next page can be fetched; null once the sync has ended. */
  due_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** The latest sync and the latest successful sync of one data type of one connection. */
interface DataSetTable {
  connection_id: string;
  data_type: string;
  company_id: string;
  latest_sync_id: string;
  latest_successful_sync_id: string | null;
  last_successful_sync: Date | null;
  scheduled_at: Date | null;
}

interface RecordTable {
  connection_id: string;
  data_type: string;
  id: string;
  company_id: string;
  /** The last sync that contained the record. A later complete sync without it deletes the record. */
  sync_id: string;
  created_at: Date;
  fields: JSONColumnType<Record<string, unknown>>;
}

interface IdempotentResponseTable {
  account_id: string;
  method: string;
  path: string;
  key: string;
  body_digest: Buffer;
  status_code: number;
  body: string | null;
  created_at: GeneratedDate;
}

interface SandboxTokenTable {
  platform_key: string;
  /** SHA-256 of the token. */
  digest: Buffer;
  /** How many times the token was used. Counted only for test credentials that behave differently after a few uses. */
  uses: Generated<number>;
  spent_at: Date | null;
  /** The exchange that used up the refresh token; null if no exchange did. */
  exchange_id: string | null;
  /** SHA-256 of the refresh token that replaced this one. */
  successor_digest: Buffer | null;
  /** When the sandbox issued the token. Null if the sandbox did not issue it, or if its age does not matter. */
  minted_at: Date | null;
}

interface SandboxUserTokenTable {
  platform_key: string;
  user_name: string;
  digest: Buffer;
  /** Increases with every token. */
  number: Generated<string>;
}

/** Records pushed to the sandbox's organizations. */
interface SandboxRecordTable {
  /** Key of the push operation. */
  key: string;
  platform_key: string;
  organization_id: string;
  /** SHA-256 of the part of the credential that does not change while the grant is valid. */
  grant_digest: Buffer;
  data_type: string;
  /** Increases with every record. */
  number: Generated<string>;
  created_at: GeneratedDate;
  fields: JSONColumnType<Record<string, unknown>>;
}

interface SyncSettingTable {
  company_id: string;
  data_type: string;
  fetch_on_first_link: boolean;
  /** Hours between two syncs; 0 if there is no schedule. */
  sync_schedule: number;
  sync_order: number;
}

export type PushStatus = 'Pending' | 'Failed' | 'Success' | 'TimedOut';

interface PushOperationTable {
  id: Generated<string>;
  company_id: string;
  connection_id: string;
  data_type: string;
  record: JSONColumnType<Record<string, unknown>>;
  status: Generated<PushStatus>;
  status_code: Generated<number>;
  provider_status_code: number | null;
  error_message: string | null;
  changes: JSONColumnType<PushChange[], string | undefined>;
  requested_at: GeneratedDate;
  completed_at: Date | null;
  /** When the platform is asked next; null once the operation has ended. */
  due_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** The change that a push made at the platform, as the API returns it in `changes`. */
export interface PushChange {
  type: 'Created';
  recordRef: { id: string; dataType: string };
}

interface DailyRequestTable {
  key_id: string;
  /** The day in UTC. */
  day: string;
  used: number;
}

/**
 * The tables of the schema `company_data_service`, except `rate_windows` and the tables of Kysely's migrator, which no
 * typed query uses.
 */
export interface Tables {
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  companies: CompanyTable;
  connections: ConnectionTable;
  credentials: CredentialTable;
  token_exchanges: TokenExchangeTable;
  applications: ApplicationTable;
  syncs: SyncTable;
  data_sets: DataSetTable;
  records: RecordTable;
  idempotent_responses: IdempotentResponseTable;
  sandbox_tokens: SandboxTokenTable;
  sandbox_user_tokens: SandboxUserTokenTable;
  sandbox_records: SandboxRecordTable;
  sync_settings: SyncSettingTable;
  push_operations: PushOperationTable;
  daily_requests: DailyRequestTable;
}
