/**
 * The Company Data Service: an HTTP API for companies, their connections to platforms, and the data sets that are
 * synced through these connections. All state is in Postgres. A sandbox simulates the platforms: see docs/sandbox.md.
 * "The specification" in comments, and section numbers in titles of tests, refer to the specification of the API that
 * this service implements. It is not in this repository.
 *
 * Folders:
 * - `http/`: the routes, and the hooks that run for every request
 * - `companies/`, `connections/`, `syncs/`, `pushes/`, `records/`: one resource each
 * - `query/`: the filter language of lists
 * - `credentials/`: the encryption of the secrets that the service stores
 * - `platform/`: the interface to the platforms, and the sandbox that simulates them
 * - `database/`: the tables and the schema migrations
 * - `faults/`: failures on demand, for tests of programs that call the service
 */
export { databaseOf, failureText, isDatabaseOutage } from '../postgres/pool';
export { createAccount, listAccounts, type Account } from './accounts';
export { createKey, listKeys, revokeKey, rotateKey, type ApiKey, type CreatedKey } from './api-keys';
export { NewerSchema } from '../postgres/schema-migrations';
export type { SecretCipher } from './credentials/secret-cipher';
export { startService, type Service, type ServiceOptions } from './service';
