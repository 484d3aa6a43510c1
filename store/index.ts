/**
 * The store: all data that the orchestrator keeps in Postgres.
 *
 * - `database/`: connection, schema and table types
 * - `migrations/`: a migration with its manifest, application and limits; amendments; pauses and stoppages; the audit
 *   trail; the ledger's mark; reconciliation; and the end of a migration
 * - `companies/`: the ledger, which contains each company's state; claims, imports, verification, exceptions and counts
 * - `vault/`: sealed credentials and client secrets, and the key pairs that seal them
 * - `portal/`: invitations to the portal, its sign-ins, requests and views, and its database role
 * - `reporting/`: totals and statistics for reports, estimates, the dashboard and monitoring
 */
export * from './migrations/amendments';
export * from './migrations/applications';
export {
  lockDecisions,
  readDecisions,
  readLatestDecisions,
  readLedgerSummary,
  readNewApplication,
  readOutcome,
  readProposedStart,
  readRecordedDecisions,
  readTrail,
  recordDecisions,
} from './migrations/audit-trail';
export type { AuditEntry } from './migrations/audit-trail';
export { readChangedSinceSignOff } from './companies/changed-outcomes';
export { claimCompanies } from './companies/claim';
export * from './companies/companies';
export * from './companies/company-lists';
export * from './companies/counts';
export * from './companies/named-companies';
export * from './reporting/statistics';
export {
  DatabaseUnavailable,
  LedgerMissing,
  isDatabaseError,
  openDatabase,
  openMonitoringDatabase,
  pingDatabase,
} from './database/database';
export type { Database, PoolUsage, Queryable } from './database/database';
export { databaseOf, failureText, serverOf } from '../postgres/pool';
export * from './reporting/monitoring';
export * from './companies/preflight-rows';
export * from './migrations/closing';
export * from './companies/exceptions';
export * from './companies/relinking';
export {
  chooseFirstCompany,
  clearFailedFirst,
  hasLinkedCompany,
  requestFirstAgain,
  requestFirstCompany,
  readFirstCompany,
} from './companies/first-company';
export type { ChosenCompany } from './companies/first-company';
export * from './reporting/figures';
export { readOverviews, readThroughput } from './reporting/overview';
export type { Overview } from './reporting/overview';
export { beginSlice, leaseMs, reclaimSent, releaseUnsent } from './companies/lease';
export type { ClaimedCompany, LeaseOwner } from './companies/lease';
export * from './companies/outcomes';
export { advanceRamp, hasRamp, isRampInProgress } from './companies/ramp';
export { createSendIntentRecorder, LeaseLost, MAX_AUTHORIZATIONS, recordSendIntents } from './companies/send-intent';
export type { RecordSendIntent } from './companies/send-intent';
export { inspectDatabase } from './database/inspection';
export { readLedgerFacts } from './migrations/ledger-facts';
export type { LedgerFacts } from './migrations/ledger-facts';
export { ManifestDigest, manifestDigest } from './migrations/manifest-digest';
export { findTakenOrganizations, OrganizationTaken } from './migrations/manifest-rows';
export * from './migrations/staged-manifests';
export { resendUnknownOutcomes, readRecordedCompanies, writeRepairs } from './migrations/reconciliation';
export type { RecordedCompany, Repair } from './migrations/reconciliation';
export {
  checkLedgerMark,
  clearLedgerFlag,
  readLedgersBehind,
  flagForReconciliation,
  flagLedger,
  readLedgerStatus,
} from './migrations/ledger-mark';
export * from './migrations/migration-list';
export * from './migrations/migrations';
export * from './migrations/pauses';
export * from './migrations/reconnections';
export { beginOutage, endOutage, readOpenPause, readStoppages, reportStop } from './migrations/stoppages';
export * from './reporting/estimate-inputs';
export * from './vault/sealed-applications';
export { deleteOldStaged, StagingFull } from './vault/staging-limits';
export {
  acceptStaged,
  countReplacing,
  discardStaged,
  findMissingCredentials,
  readStaged,
  readStagedDigest,
} from './vault/staged-credentials';
export type { MissingCredentials, StagedCredential } from './vault/staged-credentials';
export * from './vault/supply';
export * from './vault/vault';
export {
  destroyVault,
  openVault,
  readKeyFingerprint,
  readMigrationKey,
  VaultClosed,
  VaultKeyAltered,
  VaultKeyNotSigned,
} from './vault/vault-keys';
export { renewVault, rotateVaults, VaultUsable } from './vault/rotation';
export * from './portal/invitations';
export * from './portal/requests';
export * from './portal/role';
export * from './portal/sign-ins';
export * from './portal/views';
