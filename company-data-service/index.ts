/**
 * The Company Data Service: companies, their connections to platforms, and the data sets synced through them, over
 * HTTP, with everything in Postgres. The platforms behind it are played by a sandbox: see docs/sandbox.md.
 */
export { createAccount, listAccounts, type Account } from './accounts';
export { createKey, listKeys, retireKey, rotateKey, type ApiKey, type CreatedKey } from './api-keys';
export { startService, type Service, type ServiceOptions } from './service';
