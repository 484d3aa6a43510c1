/** What the orchestrator keeps in Postgres: manifest, ledger, vault and audit trail. */
export * from './amendments';
export * from './audit-trail';
export * from './checks';
export * from './claim';
export * from './companies';
export * from './counts';
export { DatabaseUnavailable, openDatabase } from './database';
export type { Database } from './database';
export * from './details';
export * from './endings';
export * from './exceptions';
export * from './figures';
export * from './imports';
export { OrganizationTaken } from './manifest-rows';
export * from './migrations';
export * from './next-companies';
export * from './speeds';
export * from './vault';
