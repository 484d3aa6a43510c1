/** A decision that the client might make. `actions.ts` offers it if it applies and would not be refused. */
import type { MigrationView } from '../../portal/contract/migration-view';
import type { Decision } from '../../domain/migration/decision';
import type { ApplicationsOfMoved } from '../../domain/preflight/applications';
import type { CheckedApplication } from '../../domain/migration/preflight-result';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import type { Progress } from '../../domain/progress/progress';
import type { ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';

export type ActionView = MigrationView['actions'][number];

export interface ActionFacts {
  /** True if the client has a migration key to seal with. */
  readonly canSeal: boolean;
  /** True if only credentials that were obtained after the confirmation count. */
  readonly isRotating: boolean;
  /** The chosen first company, if it lacks the confirmation that syncing is off; otherwise null. */
  readonly unconfirmedFirst: string | null;
  /** The applications with which companies were moved; null if none of them was replaced. */
  readonly applications: ApplicationsOfMoved | null;
  /** The sign-offs since which outcomes have changed. */
  readonly changedSinceSignOff: readonly ChangedSinceSignOff[];
}

/** A decision without its id, role and person. `actions.ts` adds these to check the preconditions. */
export type DecisionDraft = Decision extends infer Each
  ? Each extends Decision
    ? Omit<Each, 'decisionId' | 'role' | 'by'>
    : never
  : never;

export interface Candidate extends Omit<ActionView, 'isIrreversible' | 'isExpected' | 'reason' | 'message'> {
  readonly message: DecisionMessage;
  readonly draft: DecisionDraft;
  /** False if the decision makes no sense now, even if the preconditions would not refuse it. */
  readonly applies: boolean;
  readonly isIrreversible?: boolean;
  readonly isExpected?: boolean;
  readonly reason?: 'optional' | 'required';
}

/**
 * Returns the application that was supplied for this migration; null if none was. An application that was registered
 * otherwise could belong to another client of the same account, so the client does not see it.
 */
export function ownApplication({ preflight }: Progress): CheckedApplication | null {
  const application = preflight?.application ?? null;
  return application === null || application.suppliedBy === null ? null : application;
}
