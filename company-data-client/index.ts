/** The HTTP client of the Company Data Service: typed calls, failures as types, paging, retries and pacing. */
export type { Answered, CallOptions } from './caller';
export type { ApplicationCredentials, CompanyDataClient, CompanyDetails } from './client';
export { type CompanyDataClientOptions, createCompanyDataClient } from './create-client';
export * from './errors';
export type { Wait } from './retrying';
export type {
  Account,
  Company,
  Connection,
  ConnectionError,
  DataRecord,
  DataStatus,
  Integration,
  Page,
  PullOperation,
  SyncSettings,
} from './schemas';
