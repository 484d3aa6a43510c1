import type { CompanyDataClient } from '../company-data-client';
import type { Notice } from '../domain/progress/notices';
import type { WindowOccurrence, ScheduleState } from '../domain/planning/windows';
import type { KeyProvider } from '../security';
import type { Database } from '../store';

/** Takes notices. Rejects when one could not be delivered. */
export interface Notifier {
  /** @param id the same for every attempt to deliver this notice */
  post(notice: Notice, id: string): Promise<void>;
}

/** The Schedules that open migrations' windows. */
export interface WindowSchedules {
  /** Lists these openings, and no others; none: there is no Schedule any more. A pause stays. */
  keep(migrationId: string, openings: readonly WindowOccurrence[]): Promise<ScheduleState>;
  /** The same, of a Schedule that is there already. */
  refresh(migrationId: string, openings: readonly WindowOccurrence[]): Promise<void>;
}

/** What Temporal says of migrations, which their own workflows could not. */
export interface WorkflowStatus {
  /** `terminated`: from outside, or timed out; `unclear`: Temporal knows nothing of it, or of another end. */
  of(migrationId: string): Promise<'running' | 'terminated' | 'unclear'>;
  /** The migrations whose windows are scheduled. */
  scheduled(): Promise<readonly string[]>;
}

/** What activities work with; the worker makes it once, tests make their own. */
export interface ActivityDeps {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly keys: KeyProvider;
  readonly notices: Notifier;
  readonly schedules: WindowSchedules;
  readonly workflowStatus: WorkflowStatus;
  /** An authorization that has not been sent so long after its company was claimed is not sent at all. Milliseconds. */
  readonly sendWithinMs: number;
  /**
   * So long after the claim of a company nothing its attempt has sent is still on its way. Longer than `sendWithinMs` and
   * the time-out of an authorization together. Milliseconds.
   */
  readonly leaseMs: number;
  /**
   * So long a slice begins companies before it is handed back, even if more is to be done: then a worker that has joined
   * meanwhile may take it. Milliseconds.
   */
  readonly sliceTimeLimitMs: number;
}
