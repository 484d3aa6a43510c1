/**
 * The programmatic client: starts migrations, reads their progress, sends decisions, and reads the handover report. The
 * `ferry` command is built on it.
 *
 * A {@link MigrationClient} connects to Temporal, which is enough to read progress and to decide. Starting migrations
 * and reading companies, reports and windows requires a {@link LedgerClient}, which also connects to the database.
 * Neither can open a stored credential, because neither has the master key.
 *
 * @example
 * ```ts
 * import { findPlatform, loadConfig } from 'tokenferry';
 * import { decide, openLedgerClient, readProgress, startMigration, waitForPreflight } from 'tokenferry';
 * import { readManifest } from 'tokenferry/manifest';
 *
 * const platform = findPlatform('quickbooks-online')!;
 * const manifest = await readManifest({ manifest: 'manifest.csv' }, platform);
 * if (manifest.findings.errors > 0) throw new Error('see: ferry check manifest.csv');
 * const config = loadConfig(['temporal', 'payloadKeys', 'databaseUrl'], process.env, ['signingKey']);
 * const ferry = await openLedgerClient(config);
 * try {
 *   const migrationId = await startMigration(ferry, {
 *     client: 'acme',
 *     platform,
 *     rows: manifest.rows,
 *     manifestDigest: manifest.digest,
 *     contact: 'Sam, +44 20 7946 0000',
 *     by: 'Sam',
 *     firstCompany: null,              // the first one that can be moved
 *   });
 *   await waitForPreflight(ferry, migrationId);
 *   const { digests, waitingFor } = await readProgress(ferry, migrationId);
 *   const { outcome, text } = await decide(ferry, migrationId, 'approve', {
 *     step: 'supply-details',
 *     digest: digests['supply-details'],
 *     role: 'support',
 *     by: 'Sam',
 *   });
 * } finally {
 *   await ferry.close();
 * }
 * ```
 *
 * Conventions: the name of a duration ends with its unit, usually `Ms` (milliseconds), in a few cases `Hours`. A time
 * is a string in ISO 8601 and UTC, a `Date`, or a number of milliseconds since 1970. `null` is explained where it
 * occurs. Each expected failure has its own error class. Other errors of Temporal and Postgres are passed on unchanged.
 */
export { ConfigurationError, loadConfig } from '../config';
export type { TemporalConfig } from '../config';
export type { Config, ConfigPartName } from '../config';
export { findPlatform, PLATFORMS } from '../platforms/platforms';
export type { Platform, Route, TokenFamily, TokenRotation } from '../platforms/platforms';
export { openLedgerClient, openMigrationClient } from './connect';
export type { LedgerClient, LedgerClientConfig, MigrationClient, MigrationClientConfig } from './connect';
export { startMigration, startSelfService, waitForPreflight } from './start';
export type { SelfServiceStart, StartRequest } from './start';
export { supplyManifest } from './manifest';
export type { ManifestSupply } from './manifest';
export { findInapplicable, findRetryUseless } from './applicable-companies';
export { decide, sendSigned, signatureProblem } from './decide';
export type { DecisionContent, DecisionResult, SignedDecision } from './decide';
export {
  listMigrations,
  queryProgress,
  isWorkflowOpen,
  readCounts,
  readProgress,
  readProgressIfAnswered,
  readProgressOrReason,
} from './progress';
export type { MigrationSummary } from './progress';
export { abnormalStatus, readEndBeforeClosing, readProgressAfterEnd, readStage } from './ended-migrations';
export { askForReconnectionCheck, checkReconnected } from './reconnections';
export {
  askWorkers,
  readRetriedErrors,
  readRetries,
  readWorkers,
  readTaskQueue,
  readWorkflowTaskProblem,
  readWorkflowTaskProblems,
} from './health';
export type { Retry } from './health';
export {
  notifyMigration,
  readSchedulePause,
  readWindowSchedule,
  scheduledMigrations,
  setSchedulePaused,
  triggerSchedule,
} from './schedules';
export type { WindowSchedule } from './schedules';
export { isLedgerBehind, isLedgerBehindProgress, isLedgerProvenBehind, queryLedgerMark, reconcile } from './reconcile';
export { readReport } from './report';
export { findOccupiedIds, isBatchRunning } from './workflow-ids';
export type { HandoverReport, ReportedLedgerCompany as LedgerCompany } from './report';
export { closeTerminated, sweep } from './sweep';
export type { SweepOptions, SweepResult } from './sweep';
export { setUpNamespace } from './setup';
export type { NamespaceSetup } from './setup';
export {
  connectionErrorText,
  isBug,
  rootConnectionError,
  LabelReserved,
  LedgerBehind,
  MigrationClosed,
  MigrationRunning,
  NoSuchMigration,
  NoWorker,
  PayloadKeyMissing,
  RepairUnfinished,
  SetupFailed,
  Unreachable,
  WorkflowHadNoEffect,
  WorkflowIdOccupied,
  WorkflowTaskFailing,
} from './errors';

export { DatabaseUnavailable, LedgerMissing, MigrationExists, OrganizationTaken } from '../store';

/** The types that appear in the signatures of the functions above. */
export type { Counts } from '../domain/companies/counts';
export type { ManifestRow } from '../domain/companies/manifest';
export type { Preflight } from '../domain/migration/preflight-result';
export type { DecisionRules } from '../domain/migration/plan';
export type { ReconciliationResult } from '../domain/migration/reconciliation';
export type { Role } from '../domain/migration/steps';
export type { MigrationLimits } from '../domain/planning/limits';
export type { Window, WindowOccurrence, WindowOpening } from '../domain/planning/windows';
export type { Progress } from '../domain/progress/progress';
export type { Stream } from '../domain/text/streams';
export type { ReportHead } from '../presentation/handover/report-facts';
export type { KeyRing, Secret, SigningKey } from '../security';
export type { Database, MigrationStatistics, StoredMigration, SuppliedCredential } from '../store';
export type { PollingWorkers, TaskQueueDescription, WorkerReaction } from './health';
