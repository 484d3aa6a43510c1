import type { ColumnType, Generated, JSONColumnType } from 'kysely';

export type Plan = 'trial' | 'free' | 'paid';
export type Role = 'client' | 'administrator';
export type ConnectionStatus = 'PendingAuth' | 'Linked' | 'Unlinked' | 'Deauthorized';

/** Something the platform refused, as a client reads it in `dataConnectionErrors`. */
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
  /** SHA-256 of the key. A key is 256 random bits, so nothing slower is needed. */
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
}

interface ConnectionTable {
  id: Generated<string>;
  company_id: string;
  platform_key: string;
  source_id: Generated<string>;
  status: Generated<ConnectionStatus>;
  /** What the company's organization at the platform can deliver. */
  data_types: string[];
  organization_id: string | null;
  organization_name: string | null;
  errors: JSONColumnType<ConnectionError[], string | undefined>;
  created_at: GeneratedDate;
}

/** Apart from `connections`, so that nothing that reads a connection has a token in its hands. */
interface CredentialTable {
  connection_id: string;
  /** The authorization body, with the tokens of the last refresh in the place of those that were sent. */
  fields: JSONColumnType<Record<string, string>>;
  /** SHA-256 of the body that was accepted last: sent again, it is not used again. */
  accepted_digest: Buffer;
}

interface ApplicationTable {
  account_id: string;
  platform_key: string;
  client_id: string;
  client_secret: string;
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
  /** Where the platform's next page begins; nothing before the first answer. */
  cursor: string | null;
  /** When the next page can be fetched; nothing once the sync has ended. */
  due_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** One data type of one connection: which sync is the latest, and which the latest that succeeded. */
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
  /** The sync that saw the record last: what a later, complete sync has not seen is gone. */
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
  /** How often it was presented: some test credentials change their mind. */
  uses: Generated<number>;
  spent_at: Date | null;
  /** Only of tokens that the sandbox handed out itself, and only where their age matters. */
  minted_at: Date | null;
}

interface SandboxUserTokenTable {
  platform_key: string;
  user_name: string;
  digest: Buffer;
  /** Grows with every token. */
  number: Generated<string>;
}

/** What was pushed to the sandbox's organizations. */
interface SandboxRecordTable {
  /** The push operation's. */
  key: string;
  platform_key: string;
  organization_id: string;
  /** SHA-256 of what stays the same for as long as the grant lives. */
  grant_digest: Buffer;
  data_type: string;
  /** Grows with every record. */
  number: Generated<string>;
  created_at: GeneratedDate;
  fields: JSONColumnType<Record<string, unknown>>;
}

interface SyncSettingTable {
  company_id: string;
  data_type: string;
  fetch_on_first_link: boolean;
  /** Hours between two syncs; 0: never by itself. */
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
  /** When the platform is asked next; nothing once the operation has ended. */
  due_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

/** What a push has done at the platform, as a client reads it in `changes`. */
export interface PushChange {
  type: 'Created';
  recordRef: { id: string; dataType: string };
}

interface DailyRequestTable {
  key_id: string;
  /** In UTC. */
  day: string;
  used: number;
}

/** The schema `company_data_service`, table by table. */
export interface Tables {
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  companies: CompanyTable;
  connections: ConnectionTable;
  credentials: CredentialTable;
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
