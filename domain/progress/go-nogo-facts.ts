/** The facts on which a go or no-go depends, and the form of its result. The caller gathers the facts. */
import type { Platform, Route } from '../../platforms/platforms';
import type { MigrationLimits } from '../planning/limits';
import type { WindowOccurrence } from '../planning/windows';
import type { ApplicationsOfMoved, MigrationApplications } from '../preflight/applications';
import type { Dependents } from '../preflight/dependents';
import type { ServiceFacts } from '../preflight/preflight';
import type { Forecast, LiveFigures } from './forecast';
import type { Progress } from './progress';
import type { ChangedSinceSignOff } from './sign-off-changes';

/**
 * The companies that move next: the lowest wave with a company that can be moved, or the lowest wave with waiting
 * companies if none can be moved. Held-back companies do not count.
 */
export interface NextCompanies {
  /** Null if the companies have no wave. */
  readonly wave: number | null;
  readonly companies: number;
  readonly unconfirmed: number;
  readonly withoutCredential: number;
  /** The first five references of `withoutCredential`. */
  readonly firstWithoutCredential: readonly string[];
  /** Companies of lower waves that cannot be moved yet. They hold up no other company. */
  readonly leftBehind: number;
  /** The first five references of `leftBehind`. */
  readonly firstLeftBehind: readonly string[];
  /** When their oldest usable credential was obtained. ISO 8601, UTC; null if none has a usable credential. */
  readonly oldestCredentialAt: string | null;
}

/** The company that was chosen to go first, before its move. */
export interface ChosenFirst {
  readonly reference: string;
  /** Why the company cannot be moved yet; null if it can. */
  readonly notReady: string | null;
}

export interface GoNoGoFacts {
  readonly migrationId: string;
  /** ISO 8601, UTC. */
  readonly now: string;
  readonly route: Route;
  readonly platform: Platform;
  readonly contact: string;
  readonly limits: MigrationLimits;
  readonly next: NextCompanies;
  /** Null if none was chosen, its move has begun, the workflow has ended, or `progress` is null. */
  readonly chosenFirst: ChosenFirst | null;
  /** Number of companies that will be created in the account. */
  readonly toCreate: number;
  /**
   * `failed`: companies that were not moved or whose outcome is unknown, except those whose failure was accepted when
   * the migration was resumed, which are `accepted`. `tried`: companies that are moving, moved, failed or have an
   * unknown outcome.
   */
  readonly failures: { readonly failed: number; readonly tried: number; readonly accepted: number };
  /** When the remaining companies will have been moved; null if there is no forecast. */
  readonly forecast: Forecast | null;
  /** Null if there is no answer to the query about the migration. */
  readonly progress: Progress | null;
  /** True if the ledger was restored to an older state, or is being reconciled. No company can then move. */
  readonly isLedgerBehind: boolean;
  /** The ledger's counts, from which the forecast follows. Null if the ledger has no companies of the migration. */
  readonly live: Pick<LiveFigures, 'counts'> | null;
  /** Why there is no answer, and what to do about it; null if there is one. */
  readonly unanswered: { readonly reason: string; readonly remedy: string } | null;
  /** Who paused the windows, and why; null if they are not paused or there are none. */
  readonly windowsPaused: string | null;
  /** True if the windows are paused and a batch run is in progress. */
  readonly isBatchRunning: boolean;
  /** Numbers of workers that are polling Temporal for tasks. */
  readonly workers: { readonly workflows: number; readonly activities: number };
  /** Errors of activities and workflow tasks that keep failing and are being retried. */
  readonly failing: readonly string[];
  readonly service: ServiceFacts | { readonly refused: string } | { readonly unreachable: string };
  /** The applications of this migration and of the other open migrations. */
  readonly applications: MigrationApplications;
  /** The companies of other migrations that depend on an application. */
  readonly dependents: Dependents;
  /** The companies of this migration by the application with which they were connected. */
  readonly moved: ApplicationsOfMoved['moved'];
  /** The sign-offs since which outcomes have changed. */
  readonly changedSinceSignOff: readonly ChangedSinceSignOff[];
}

export interface Answer {
  readonly check:
    | 'decisions'
    | 'window'
    | 'sync-disabled'
    | 'credentials'
    | 'companies'
    | 'first-company'
    | 'failures'
    | 'account'
    | 'application'
    | 'service'
    | 'worker';
  readonly go: boolean;
  /** Set if the answer is a go, but `why` contains a warning. */
  readonly warning?: true;
  /** One sentence. */
  readonly why: string;
}

export interface GoNoGo {
  readonly go: boolean;
  /**
   * The window that is open now, or at the proposed start if that is in the future, or else the next window. Null if
   * moves can begin at any time, if the ledger is behind, or if, in step 6, every company has a final outcome.
   */
  readonly window: WindowOccurrence | null;
  readonly answers: readonly Answer[];
  /** The conditions under which the migration pauses itself. Each completes "pauses if ...". */
  readonly pauseNotes: readonly string[];
  /**
   * Sentences about conditions that do not pause the migration, about the time when moves stop, and about the time when
   * the last company will have been moved.
   */
  readonly notes: readonly string[];
  readonly contact: string;
}
