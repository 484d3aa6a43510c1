import type { CompanyDataClient } from '../company-data-client';
import type { DecisionRecord } from '../domain/migration/migration-state';
import type { WorkflowState } from '../domain/migration/reconciliation';
import type { Notice } from '../domain/progress/notices';
import type { WindowOccurrence, ScheduleState } from '../domain/planning/windows';
import type { VaultKeyWrapper } from '../security';
import type { Database } from '../store';

/** Delivers notices. Rejects if a notice could not be delivered. */
export interface Notifier {
  /** @param id the same for every attempt to deliver this notice */
  post(notice: Notice, id: string): Promise<void>;
}

/** The Temporal Schedules that start work when the windows of migrations open. */
export interface WindowSchedules {
  /**
   * Creates or updates the Schedule, so that it contains the first 30 of these occurrences, or deletes it if there are
   * none. A paused Schedule stays paused.
   */
  update(migrationId: string, occurrences: readonly WindowOccurrence[]): Promise<ScheduleState>;
  /** Updates or deletes the Schedule like `update`, but does not create it. */
  refresh(migrationId: string, occurrences: readonly WindowOccurrence[]): Promise<void>;
}

/** Asks Temporal whether a migration's workflow is running or was terminated, and which migrations have a Schedule. */
export interface WorkflowStatus {
  /**
   * Returns `terminated` if the workflow was terminated or timed out, and `unknown` if Temporal does not know it or it
   * ended in any other way.
   */
  statusOf(migrationId: string): Promise<'running' | 'terminated' | 'unknown'>;
  /** Lists the migrations that have a Schedule for their windows. */
  scheduled(): Promise<readonly string[]>;
}

/** Reads from Temporal the facts that a restored ledger might have lost. */
export interface WorkflowRecords {
  /** Returns the workflow's status, and the highest ledger mark that it has seen; 0 if it is not running. */
  stateAndMarkOf(migrationId: string): Promise<{ readonly workflow: WorkflowState; readonly ledgerMark: number }>;
  /**
   * Returns the decisions that the workflow has given to `recordDecisions`, oldest first, from all of its runs that
   * Temporal still keeps. The outcomes are the ledger's, or the workflow's while the activity has not completed. Empty
   * if Temporal does not know the migration. Not verified: anyone who may write to the namespace could have started the
   * workflow.
   */
  decisionsOf(migrationId: string): Promise<readonly DecisionRecord[]>;
}

/** The input of an activity that needs only the id of a migration. */
export interface MigrationRef {
  readonly migrationId: string;
}

/** The dependencies of the activities. A worker creates them once; tests create their own. */
export interface ActivityDeps {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly keys: VaultKeyWrapper;
  readonly notices: Notifier;
  readonly schedules: WindowSchedules;
  readonly workflowStatus: WorkflowStatus;
  readonly workflowRecords: WorkflowRecords;
  /** The maximum time from the claim of a company to the sending of its credential. Milliseconds. */
  readonly sendWithinMs: number;
  /** Milliseconds from a claim to the end of its lease. `leaseMs` in store/companies/lease.ts calculates it. */
  readonly leaseMs: number;
  /**
   * How long a slice keeps claiming companies before it ends, so that a new worker can take the next slice.
   * Milliseconds.
   */
  readonly sliceTimeLimitMs: number;
}
