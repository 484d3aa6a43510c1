import type { Secret } from '../security/secret';
import type { Answered, CallOptions } from './caller';
import type {
  Account,
  Company,
  Connection,
  DataRecord,
  DataStatus,
  Integration,
  Page,
  PullOperation,
  PushOperation,
  SyncSettings,
} from './schemas';

/** What a company is created with, or changed to. */
export interface CompanyDetails {
  readonly name: string;
  readonly description?: string | undefined;
  /** 10 at most, values of 100 characters at most. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** Which companies a list gives. */
export interface CompanyFilter {
  /** Only companies that carry all of these tags. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The service's query language: `name~Bakery&&created>2024-01-01`. */
  readonly query?: string | undefined;
  /** Results per page, 1 to 5,000; the service's default is 100. */
  readonly pageSize?: number | undefined;
}

/** Which page of a list is read. */
interface PageChoice {
  readonly page?: number | undefined;
  /** 1 to 5,000; the service's default is 100. */
  readonly pageSize?: number | undefined;
  /** Filters by field: `{ status: 'Paid' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
}

/** Creations are sent again safely under one key, for 90 minutes; after that, look whether the thing exists. */
interface CreationOptions extends CallOptions {
  /** A UUID. */
  readonly idempotencyKey: string;
}

/** The client's own application at a platform, which its refresh tokens are bound to. */
interface ApplicationCredentials {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly environment: 'production' | 'sandbox';
}

/**
 * The Company Data Service, as far as a migration needs it.
 *
 * Every call throws a `CompanyDataError` when it fails, or the reason of its signal when it is cancelled. Calls are
 * sent again by themselves where that is safe, within the retry budget.
 */
export interface CompanyDataClient {
  /** Whose key this is, and what its plan allows. */
  account(options?: CallOptions): Promise<Answered<Account>>;
  /** Answers when the service is up. */
  healthz(options?: CallOptions): Promise<Answered<void>>;

  integrations(options?: CallOptions): AsyncIterable<Integration>;
  integration(platformKey: string, options?: CallOptions): Promise<Answered<Integration>>;
  putApplicationCredentials(
    platformKey: string,
    credentials: ApplicationCredentials,
    options?: CallOptions,
  ): Promise<Answered<void>>;

  companies(filter?: CompanyFilter, options?: CallOptions): AsyncIterable<Company>;
  createCompany(details: CompanyDetails, options: CreationOptions): Promise<Answered<Company>>;
  getCompany(companyId: string, options?: CallOptions): Promise<Answered<Company>>;
  updateCompany(companyId: string, details: CompanyDetails, options?: CallOptions): Promise<Answered<Company>>;
  deleteCompany(companyId: string, options?: CallOptions): Promise<Answered<void>>;

  connections(companyId: string, options?: CallOptions): AsyncIterable<Connection>;
  createConnection(companyId: string, platformKey: string, options: CreationOptions): Promise<Answered<Connection>>;
  getConnection(companyId: string, connectionId: string, options?: CallOptions): Promise<Answered<Connection>>;
  /** Ends the service's access to the platform; what was synced stays readable. */
  unlinkConnection(companyId: string, connectionId: string, options?: CallOptions): Promise<Answered<Connection>>;
  deleteConnection(companyId: string, connectionId: string, options?: CallOptions): Promise<Answered<void>>;
  /**
   * Hands a credential over: the crossing. What became of it stands in the connection's status and errors.
   *
   * Sent again only when it certainly was not used (429, refused connection). After any other failure read the
   * connection before this is called again: a single-use token may have been used.
   * @param fields as the platform's entry names them.
   */
  putAuthorization(
    companyId: string,
    connectionId: string,
    fields: Secret<Readonly<Record<string, string>>>,
    options?: CallOptions,
  ): Promise<Answered<Connection>>;

  /** Queues every data set that the platform supports; those under way are left alone. */
  startSync(companyId: string, options?: CallOptions): Promise<Answered<void>>;
  /** Queues one data set. `NotReady` when it is already under way. */
  queueSync(
    companyId: string,
    dataType: string,
    options?: CallOptions & { readonly connectionId?: string | undefined },
  ): Promise<Answered<PullOperation>>;
  dataStatus(companyId: string, options?: CallOptions): Promise<Answered<DataStatus>>;
  syncHistory(companyId: string, options?: CallOptions): AsyncIterable<PullOperation>;
  getSync(companyId: string, syncId: string, options?: CallOptions): Promise<Answered<PullOperation>>;

  /** One page of a data set. `NotReady` until its first sync is complete. */
  records(
    companyId: string,
    dataType: string,
    choice?: PageChoice,
    options?: CallOptions,
  ): Promise<Answered<Page<DataRecord>>>;
  /** How many records a data set has, without reading them. `NotReady` until its first sync is complete. */
  countRecords(companyId: string, dataType: string, options?: CallOptions): Promise<Answered<number>>;

  syncSettings(companyId: string, options?: CallOptions): Promise<Answered<SyncSettings>>;
  setSyncSettings(companyId: string, settings: SyncSettings, options?: CallOptions): Promise<Answered<void>>;

  /** Creates a record at the platform. The operation is `Pending` at first: what became of it is to be read later. */
  push(
    companyId: string,
    connectionId: string,
    dataType: string,
    record: Readonly<Record<string, unknown>>,
    options: CreationOptions,
  ): Promise<Answered<PushOperation>>;
  pushes(companyId: string, options?: CallOptions): AsyncIterable<PushOperation>;
  getPush(companyId: string, pushOperationKey: string, options?: CallOptions): Promise<Answered<PushOperation>>;

  /** Waits for calls under way, then closes the connections. */
  close(): Promise<void>;
}
