/**
 * The HTTP client of the Company Data Service.
 *
 * A call passes through these layers:
 * 1. `create-client.ts` builds the request of one endpoint; `client.ts` documents the endpoints.
 * 2. `caller.ts` sends it, retries within a budget (`retry-budget.ts`) and parses the response (`schemas.ts`).
 * 3. `rate-limiter.ts` delays requests so that all users of the API key together stay below the service's limit. It
 *    follows the waits that responses announce (`announced-waits.ts`).
 * 4. `transport.ts` sends one request at most once, over a connection of `connections.ts`.
 *
 * Failures are typed, and credentials in them are masked (`errors.ts`, `error-answer.ts`). Lists are read page by page
 * (`paging.ts`, `links.ts`). `service-facts.ts` collects the facts about an account that a preflight needs.
 */
export type { Answer } from './caller';
export type { RetryWait } from './retry-budget';
export type { CompanyDataClient } from './client';
export { type CompanyDataClientOptions, createCompanyDataClient, MAX_IN_FLIGHT } from './create-client';
export * from './errors';
export type { Company, Connection, DataStatus, SyncSettings } from './schemas';
export { type FoundConnection, readServiceFacts } from './service-facts';
