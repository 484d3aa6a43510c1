/** The result of `ferry reconcile`, which repairs a ledger that was restored to an older state. */
import type { Ending } from './migration-state';

/** The status of a migration's workflow. `gone`: Temporal has no such workflow, or it ended without a result. */
export type WorkflowState = 'running' | 'gone' | Ending;

/** A decision that the ledger had lost, and that was applied and recorded again. */
export interface RestoredDecision {
  readonly decisionId: string;
  readonly kind: string;
  readonly by: string | null;
  readonly at: string;
  /** True if the decision had been refused. Otherwise absent. */
  readonly wasRefused?: true;
  /**
   * True if the ledger has lost credentials that the decision supplied, and they might still be needed: companies
   * accept a credential, or rows of the manifest were lost as well. Otherwise absent.
   */
  readonly isPartial?: true;
}

/** A decision that Temporal has but the ledger does not accept. A person has to make the decision again. */
export interface RefusedDecision extends RestoredDecision {
  readonly why: string;
  /**
   * The command that supplies the lost rows of the manifest: `ferry manifest`, or `ferry amend` if support has accepted
   * the details, or companies have been moved, tried or left out. Present only if the ledger has lost the latest
   * manifest.
   */
  readonly supplyWith?: 'manifest' | 'amend';
}

/** The references of the companies that were repaired, grouped by the result of the comparison with the service. */
export interface CompanyRepairs {
  /** Their connection is linked. They are syncing now. */
  readonly linked: readonly string[];
  /**
   * They have failed: the platform refused the credential, the credential belongs to another organization, the service
   * has lost the grant, or the service refused to start the syncs.
   */
  readonly notMoved: readonly string[];
  /**
   * The service has their unlinked connection, so their single-use credential might have been used. They cannot be
   * moved at the moment, so a person decides.
   */
  readonly unknown: readonly string[];
  /** Only the ids of the company and, if any, the connection were adopted. Their credentials can still be sent. */
  readonly adopted: readonly string[];
  /** The service no longer has them, and their credentials might have been sent. They need new credentials. */
  readonly gone: readonly string[];
  /** The service no longer has them, but their credentials were never sent. The next try creates them again. */
  readonly toCreate: readonly string[];
  /** The service has more than one company for each of these. A person decides which one to delete. */
  readonly doubled: readonly string[];
}

export interface ReconciliationResult extends CompanyRepairs {
  /**
   * Like `unknown`, but these companies can be moved. Once no request can be in flight, their credentials are sent
   * again to the same connections.
   */
  readonly interrupted: readonly string[];
  readonly workflow: WorkflowState;
  readonly decisions: readonly RestoredDecision[];
  readonly refused: readonly RefusedDecision[];
  /** True if Temporal retried the activity: the repairs of its earlier attempts are not listed. Otherwise absent. */
  readonly isIncomplete?: true;
}
