/**
 * The programmatic client: starts migrations, reads their progress, sends decisions, and reads the handover report. The
 * `ferry` command is built on it.
 *
 * It connects to Temporal, which is enough to read progress and to decide ({@link MigrationClient}). With a database it
 * also starts migrations and reads companies, reports and windows ({@link LedgerClient}). It cannot open a stored
 * credential, because it does not have the master key.
 *
 * @example
 * ```ts
 * import { loadConfig } from '../config';
 * import { findPlatform } from '../platforms/platforms';
 * import { decide, openLedgerClient, readProgress, startMigration, waitForPreflight } from '../client';
 *
 * const config = loadConfig(['temporal', 'payloadKeys', 'databaseUrl'], process.env, ['signingKey']);
 * const ferry = await openLedgerClient(config);
 * try {
 *   const migrationId = await startMigration(ferry, {
 *     client: 'acme',
 *     platform: findPlatform('quickbooks-online')!,
 *     rows,                            // the manifest, as readManifest returns it
 *     manifestDigest,
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
 * Conventions: the name of a duration ends in its unit, usually `Ms` (milliseconds), in a few cases `Hours`; times are
 * ISO 8601 in UTC unless they are a `Date`;
 * `null` is explained where it occurs. Each expected failure has its own error class.
 * Other errors of Temporal and Postgres are passed on unchanged.
 */
export { openLedgerClient, openMigrationClient } from './connect';
export type { LedgerClient, LedgerClientConfig, MigrationClient, MigrationClientConfig } from './connect';
export { startMigration, startSelfService, waitForPreflight } from './start';
export type { SelfServiceStart, StartRequest } from './start';
export { decide, signatureProblem } from './decide';
export type { DecisionContent, DecisionResult } from './decide';
export {
  listMigrations,
  queryProgress,
  readAbnormalStatus,
  readCounts,
  readProgress,
  readProgressIfAnswered,
} from './progress';
export type { MigrationSummary } from './progress';
export {
  askWorkers,
  readRetriedErrors,
  readWorkers,
  readTaskQueue,
  readWorkflowTaskProblem,
  readWorkflowTaskProblems,
} from './health';
export { readWindowSchedule, scheduledMigrations, setSchedulePaused, triggerSchedule } from './schedules';
export type { WindowSchedule } from './schedules';
export { isLedgerBehind, reconcile } from './reconcile';
export { readReport } from './report';
export { findOccupiedIds } from './workflow-ids';
export type { HandoverReport } from './report';
export { closeTerminated, sweep } from './sweep';
export type { SweepResult } from './sweep';
export { setUpNamespace } from './setup';
export type { NamespaceSetup } from './setup';
export {
  connectionErrorText,
  rootConnectionError,
  LabelReserved,
  LedgerBehind,
  MigrationClosed,
  NoSuchMigration,
  NoWorker,
  PayloadKeyMissing,
  SetupFailed,
  Unreachable,
  WithoutEffect,
  WorkflowIdOccupied,
  WorkflowTaskFailing,
} from './errors';
