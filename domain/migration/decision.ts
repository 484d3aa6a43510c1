/** The decisions that people send, and their outcomes. */
import type { LimitsChange } from '../planning/limits';
import type { Role, Step } from './steps';
import type { Window } from '../planning/windows';

/** The fields of every decision. `decisionId` makes a decision idempotent: sent twice, it counts once. */
export interface Sender {
  readonly decisionId: string;
  readonly role: Role;
  /** The person's name. It is proven only if the migration requires signed decisions. */
  readonly by: string;
  readonly reason?: string;
  /** Digest of what the sender reviewed, see `decisions/guards.ts`. The decision is refused if that has changed. */
  readonly digest?: string;
  /** ISO 8601, UTC. If no worker has handled the decision by this time, it is refused. */
  readonly validUntil?: string;
}

/** The next move after the first company has been rejected: another attempt, or the end of the migration. */
export type NextAfterRejection =
  | { readonly next: 'same-company' }
  | { readonly next: 'another-company'; readonly reference: string }
  | { readonly next: 'abandon' };

export interface StepDecision extends Sender {
  readonly kind: 'step';
  readonly step: Step;
  readonly verdict: 'approve' | 'reject';
  readonly afterwards?: NextAfterRejection;
}

export interface TimeProposal extends Sender {
  readonly kind: 'time';
  /** ISO 8601, UTC. */
  readonly startAt: string;
  /** Absent: the windows stay as they are. Empty: moves can begin at any time. */
  readonly windows?: readonly Window[];
}

/** Chooses the company to move first, or another company after the first one was moved or has failed. */
export interface FirstCompanyChoice extends Sender {
  readonly kind: 'first-company';
  readonly reference: string;
}

/** References from the manifest, at most 1,000 in one message, or all companies to which the decision can apply. */
export type Companies = 'all' | readonly string[];

/** The client's confirmation that its own application no longer uses the tokens of these companies. */
export interface SyncDisabledConfirmation extends Sender {
  readonly kind: 'sync-disabled';
  readonly companies: Companies;
}

/**
 * Brings credentials that were sealed and staged in the vault. They count once this decision is recorded as applied.
 */
export interface CredentialsSupplied extends Sender {
  readonly kind: 'credentials-supplied';
  readonly companies: number;
}

/** Reports which application of the client was registered at the service. The secret is not part of the message. */
export interface ApplicationSupplied extends Sender {
  readonly kind: 'application-supplied';
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
}

/** Reports that rows were added to or corrected in the ledger, so that they are checked again. */
export interface ManifestAmended extends Sender {
  readonly kind: 'manifest-amended';
  readonly added: number;
  readonly corrected: number;
}

/** Leaves companies out: `exclude` before their move, `skip` after a failure or an unknown outcome. */
export interface LeaveOut extends Sender {
  readonly kind: 'exclude' | 'skip';
  readonly companies: readonly string[];
  readonly reason: string;
}

/**
 * Tries companies again: `retry` repeats the move, and `relink` checks the companies after their end customers have
 * reconnected.
 */
export interface Retry extends Sender {
  readonly kind: 'retry' | 'relink';
  readonly companies: Companies;
}

/** Moves companies again with the new credentials that are in the vault. */
export interface CredentialReplacement extends Sender {
  readonly kind: 'replace-credential';
  readonly companies: readonly string[];
}

/** Changes limits, including those of a running batch. */
export interface Adjustment extends Sender {
  readonly kind: 'adjust';
  readonly limits: LimitsChange;
}

export interface RunControl extends Sender {
  readonly kind: 'pause' | 'resume' | 'cancel';
}

export type Decision =
  | StepDecision
  | TimeProposal
  | FirstCompanyChoice
  | SyncDisabledConfirmation
  | CredentialsSupplied
  | ApplicationSupplied
  | ManifestAmended
  | LeaveOut
  | Retry
  | CredentialReplacement
  | Adjustment
  | RunControl;

/** A message that could not be parsed as a decision. Its content is not kept, because it could contain a secret. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly decisionId: string;
  /** The name of the message. */
  readonly message: string;
  /** The role and the name that the message claims; null if they are not readable. */
  readonly role: Role | null;
  readonly by: string | null;
}

export interface Outcome {
  readonly decisionId: string;
  readonly applied: boolean;
  /** The change, or the reason for a refusal. One sentence. */
  readonly text: string;
  readonly at: string;
  /** Set if the message could not be parsed. A corrected message with the same id is still accepted. */
  readonly malformed?: true;
}
