/** The interface of the client, with the endpoints of the Company Data Service that it can call. */
import type { Secret } from '../security/secret';
import type { CallResult, CallOptions } from './caller';
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

/** The fields of a company that a caller can set. */
export interface CompanyDetails {
  readonly name: string;
  readonly description?: string | undefined;
  /** At most 10 tags with values of at most 100 characters. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

/** The start of the text of a tag. */
export interface TagPrefix {
  readonly name: string;
  readonly prefix: string;
}

/** Filters by whole tags, or by the start of one tag. */
type TagFilter =
  /** Only companies with all of these tags. Default: all companies. */
  | { readonly tags?: Readonly<Record<string, string>> | undefined; readonly tagPrefix?: undefined }
  /** Only companies whose tag of this name begins with this text. */
  | { readonly tagPrefix: TagPrefix; readonly tags?: undefined };

/** The filter and page size of a list of companies. */
export type CompanyFilter = TagFilter & {
  /** A filter in the service's query language: `name~Bakery&&created>2024-01-01`. Default: no filter. */
  readonly query?: string | undefined;
  /** Results per page, 1 to 5,000. The service's default is 100. */
  readonly pageSize?: number | undefined;
};

/** The page and filter of a data set. */
interface PageChoice {
  readonly page?: number | undefined;
  /** Results per page, 1 to 5,000. The service's default is 100. */
  readonly pageSize?: number | undefined;
  /** Only records with these field values: `{ status: 'Paid' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
}

/**
 * Options of a call that creates something. The call can be repeated with the same key for 90 minutes without creating
 * anything twice. After that, check whether the resource exists before you repeat the call.
 */
interface CreationOptions extends CallOptions {
  /** A UUID. */
  readonly idempotencyKey: string;
}

/**
 * The client's application at a platform. Refresh tokens work only with the application that obtained them.
 */
interface ApplicationCredentials {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly environment: 'production' | 'sandbox';
}

/**
 * A client of the Company Data Service.
 *
 * A call that fails throws a `CompanyDataError`; a call that is cancelled throws the reason of its signal. Calls are
 * retried if that is safe, within the retry budget.
 */
export interface CompanyDataClient {
  /** Reads the account of the API key and the limits of its plan. */
  account(options?: CallOptions): Promise<CallResult<Account>>;

  integration(platformKey: string, options?: CallOptions): Promise<CallResult<Integration>>;
  putApplicationCredentials(
    platformKey: string,
    credentials: ApplicationCredentials,
    options?: CallOptions,
  ): Promise<CallResult<void>>;

  companies(filter?: CompanyFilter, options?: CallOptions): AsyncIterable<Company>;
  createCompany(details: CompanyDetails, options: CreationOptions): Promise<CallResult<Company>>;
  getCompany(companyId: string, options?: CallOptions): Promise<CallResult<Company>>;
  deleteCompany(companyId: string, options?: CallOptions): Promise<CallResult<void>>;

  connections(companyId: string, options?: CallOptions): AsyncIterable<Connection>;
  createConnection(companyId: string, platformKey: string, options: CreationOptions): Promise<CallResult<Connection>>;
  getConnection(companyId: string, connectionId: string, options?: CallOptions): Promise<CallResult<Connection>>;
  /** Ends the service's access to the platform. Synced records stay readable. */
  unlinkConnection(companyId: string, connectionId: string, options?: CallOptions): Promise<CallResult<Connection>>;
  /**
   * Hands a credential over to the service: the crossing. The connection's status and errors show the outcome.
   *
   * The call is retried only if the credential has certainly not been used (429, or the request never left this
   * machine). After any other failure, read the connection before you call this again, because a single-use token might
   * have been used.
   *
   * @param fields the credential, with the field names of the platform's entry in the platform table
   */
  putAuthorization(
    companyId: string,
    connectionId: string,
    fields: Secret<Readonly<Record<string, string>>>,
    options?: CallOptions,
  ): Promise<CallResult<Connection>>;

  /**
   * Queues a sync of every data set of the company's linked connections, except data sets that are already queued or
   * syncing.
   */
  startSync(companyId: string, options?: CallOptions): Promise<CallResult<void>>;
  dataStatus(companyId: string, options?: CallOptions): Promise<CallResult<DataStatus>>;
  syncHistory(companyId: string, options?: CallOptions): AsyncIterable<PullOperation>;
  getSync(companyId: string, syncId: string, options?: CallOptions): Promise<CallResult<PullOperation>>;

  /** Reads one page of a data set. Throws `NotReady` until its first sync is complete. */
  records(
    companyId: string,
    dataType: string,
    choice?: PageChoice,
    options?: CallOptions,
  ): Promise<CallResult<Page<DataRecord>>>;
  /** Counts the records of a data set without reading them. Throws `NotReady` until its first sync is complete. */
  countRecords(companyId: string, dataType: string, options?: CallOptions): Promise<CallResult<number>>;

  syncSettings(companyId: string, options?: CallOptions): Promise<CallResult<SyncSettings>>;

  /** Creates a record at the platform. The operation is `Pending` at first. */
  push(
    companyId: string,
    connectionId: string,
    dataType: string,
    record: Readonly<Record<string, unknown>>,
    options: CreationOptions,
  ): Promise<CallResult<PushOperation>>;

  /** Waits until no request is in flight, then closes all connections. */
  close(): Promise<void>;
}
