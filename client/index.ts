/**
 * The programmatic client: what the `ferry` command does, for programs. It reaches Temporal for the process and, where it
 * may, Postgres for the companies; it holds no key that opens a credential.
 */
export { NoWorker, WorkerFails } from './ask';
export { decide, MigrationClosed } from './decide';
export type { Answer, Sent } from './decide';
export {
  askProgress,
  listMigrations,
  progressIfAnswered,
  readCounts,
  readTerminationReason,
  readOutages,
  readProgress,
} from './progress';
export type { MigrationLine } from './progress';
export { NotReadable } from './missing-key';
export { NoSuchMigration } from './no-such-migration';
export { openLedgerClient, openMigrationClient } from './open';
export type { LedgerClient, MigrationClient, MigrationClientConfig } from './open';
export { readReport } from './report';
export type { HandoverReport } from './report';
export { readWindowSchedule, scheduledMigrations, setSchedulePaused, triggerSchedule } from './schedules';
export type { WindowSchedule } from './schedules';
export { startSelfService } from './self-service';
export type { SelfServiceStarted } from './self-service';
export { detailsChecked, startMigration } from './start';
export { closeTerminated, sweep } from './sweep';
export { firstConnectionError, connectionErrorText } from './connection-error';
export { Unreachable } from './unreachable';
export { readWorkers } from './workers';
