import type { CompanyDataClient } from '../company-data-client';
import type { Notice } from '../domain/progress/notices';
import type { WindowOccurrence, ScheduleState } from '../domain/planning/windows';
import type { KeyProvider } from '../security';
import type { Database } from '../store';

/** Delivers notices. Rejects when one could not be delivered. */
export interface Notifier {
  /** @param id is the same for every attempt to deliver this notice */
  post(notice: Notice, id: string): Promise<void>;
}

/** The Temporal Schedules that start work when the windows of migrations open. */
export interface WindowSchedules {
  /** Creates or updates the Schedule with exactly these occurrences; deletes it if there are none. Keeps a pause. */
  keep(migrationId: string, occurrences: readonly WindowOccurrence[]): Promise<ScheduleState>;
  /** Does the same, but only if the Schedule exists. */
  refresh(migrationId: string, occurrences: readonly WindowOccurrence[]): Promise<void>;
}

/** Reads from Temporal what the workflow of a migration cannot report itself. */
export interface WorkflowStatus {
  /** `terminated`: terminated or timed out; `unclear`: unknown to Temporal, or ended in another way. */
  of(migrationId: string): Promise<'running' | 'terminated' | 'unclear'>;
  /** Lists the migrations that have a Schedule for their windows. */
  scheduled(): Promise<readonly string[]>;
}

/** The dependencies of the activities. A worker creates them once; tests create their own. */
export interface ActivityDeps {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly keys: KeyProvider;
  readonly notices: Notifier;
  readonly schedules: WindowSchedules;
  readonly workflowStatus: WorkflowStatus;
  /** Milliseconds after its claim in which an authorization can be sent; later it is not sent at all. */
  readonly sendWithinMs: number;
  /** Milliseconds from a claim to the end of its lease; see store/companies/lease.ts for its length. */
  readonly leaseMs: number;
  /**
   * Milliseconds in which a slice takes companies. Then it ends, so that a worker that has joined can take the next
   * one.
   */
  readonly sliceTimeLimitMs: number;
}
