/** The HTTP client of the Company Data Service: typed calls, failures as types, paging, retries and pacing. */
export type { CompanyDataClient } from './client';
export { type CompanyDataClientOptions, createCompanyDataClient } from './create-client';
export * from './errors';
export type { Wait } from './retrying';
export type { Company, Connection, DataStatus, SyncSettings } from './schemas';
export { readServiceFacts } from './service-facts';
export type { FoundConnection } from './service-facts';
