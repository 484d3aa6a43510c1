/**
 * The Company Data Service: companies, their connections to platforms, and the data sets synced through them, over
 * HTTP, with all state in Postgres. A sandbox plays the platforms: see docs/sandbox.md. The folders: `http/` routes and
 * what every request passes, `companies/`, `connections/`, `syncs/`, `pushes/` and `records/` one resource each,
 * `query/` the filter language of lists, `platform/` the platforms, `faults/` failures on demand.
 */
export { createAccount, listAccounts, type Account } from './accounts';
export { createKey, listKeys, revokeKey, rotateKey, type ApiKey, type CreatedKey } from './api-keys';
export { startService, type Service, type ServiceOptions } from './service';
