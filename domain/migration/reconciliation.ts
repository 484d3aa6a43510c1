/** The result of `ferry reconcile`, which repairs a ledger that was restored to an older state. */
import type { Ending } from './migration-state';

/** The status of a migration's workflow. `gone`: Temporal does not know it, or it ended without a result. */
export type WorkflowEnd = 'running' | 'gone' | Ending;

/** A decision that was applied and recorded again. */
export interface RestoredDecision {
  readonly decisionId: string;
  readonly kind: string;
  readonly by: string | null;
  readonly at: string;
}

/** A decision that Temporal has and the ledger does not accept. A person has to take it again. */
export interface RefusedDecision extends RestoredDecision {
  readonly why: string;
}

/** The references of the companies that were repaired, by what was found. */
export interface CompanyRepairs {
  /** Their connection is linked. They are syncing now. */
  readonly linked: readonly string[];
  /** The platform has refused their credential, or the service has lost its grant. */
  readonly notMoved: readonly string[];
  /** The service has their unlinked connection, so their single-use credential might have been used. */
  readonly unknown: readonly string[];
  /** Only the ids of the company and the connection were adopted. Their credentials have not been used. */
  readonly adopted: readonly string[];
  /** The service no longer has them, although the ledger says that they were handed over. */
  readonly gone: readonly string[];
  /** The service has more than one company for them. A person decides which one to delete. */
  readonly doubled: readonly string[];
}

export interface ReconciliationResult extends CompanyRepairs {
  readonly workflow: WorkflowEnd;
  readonly decisions: readonly RestoredDecision[];
  readonly refused: readonly RefusedDecision[];
}
