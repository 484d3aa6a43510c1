/** The decisions that people send, messages that cannot be read as decisions, and the outcomes of both. */
import type { Approver } from './approvers';
import type { LimitsChange } from '../planning/limits';
import type { Role, Step } from './steps';
import type { Window } from '../planning/windows';

/** The fields of every decision. `decisionId` makes a decision idempotent: sent twice, it counts once. */
export interface DecisionBase {
  readonly decisionId: string;
  readonly role: Role;
  /** The person's name. It is verified on arrival only if decisions of this role must be signed. */
  readonly by: string;
  readonly reason?: string;
  /** Digest of the reviewed facts (`domain/decisions/guards.ts`). If they have changed, the decision is refused. */
  readonly digest?: string;
  /** ISO 8601, UTC. If no worker has handled the decision by this time, it is refused. */
  readonly validUntil?: string;
}

/** The sender's choice after rejecting the first company: try it again, try another, or end the migration. */
export type NextAfterRejection =
  /** `reference`: the rejected company; absent in messages that do not name it. */
  | { readonly next: 'same-company'; readonly reference?: string }
  | { readonly next: 'another-company'; readonly reference: string }
  | { readonly next: 'abandon' };

export interface StepDecision extends DecisionBase {
  readonly kind: 'step';
  readonly step: Step;
  readonly verdict: 'approve' | 'reject';
  readonly afterwards?: NextAfterRejection;
}

export interface TimeProposal extends DecisionBase {
  readonly kind: 'time';
  /** ISO 8601, UTC. */
  readonly startAt: string;
  /** Absent: the windows stay as they are. Empty: moves can begin at any time. */
  readonly windows?: readonly Window[];
}

/** Chooses the company to move first, or another company after the first company was moved or has failed. */
export interface FirstCompanyChoice extends DecisionBase {
  readonly kind: 'first-company';
  readonly reference: string;
}

/** References from the manifest, at most 1,000 in one message, or all companies to which the decision can apply. */
export type Companies = 'all' | readonly string[];

/** The client's confirmation that its own application no longer uses the tokens of these companies. */
export interface SyncDisabledConfirmation extends DecisionBase {
  readonly kind: 'sync-disabled';
  readonly companies: Companies;
}

interface SealedSupply {
  /**
   * The digest of the boxes (`domain/supply/sealed-digest.ts`). The ledger refuses the decision if other boxes are
   * staged for it. Absent if the sender's version does not compute this digest, or if nothing is sealed.
   */
  readonly sealedDigest?: string;
}

/**
 * Announces credentials that were sealed and are staged in the vault. A worker can use them only after this decision
 * has been recorded as applied.
 */
export interface CredentialsSupplied extends DecisionBase, SealedSupply {
  readonly kind: 'credentials-supplied';
  readonly companies: number;
}

/**
 * Names the client's application, which is registered with the service once this decision has been applied. The secret
 * is not part of the message.
 */
export interface ApplicationSupplied extends DecisionBase, SealedSupply {
  readonly kind: 'application-supplied';
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
}

/**
 * Supplies or replaces the manifest, until support has accepted the details. The rows are staged in the ledger, which
 * refuses the decision if their digest or number differs.
 */
export interface ManifestSupplied extends DecisionBase {
  readonly kind: 'manifest-supplied';
  /** SHA-256 of the rows (`domain/supply/supplied-rows.ts`), in hexadecimal. */
  readonly manifestDigest: string;
  readonly companies: number;
}

/** Reports that rows were added to the ledger or corrected in it, so that the preflight checks them again. */
export interface ManifestAmended extends DecisionBase {
  readonly kind: 'manifest-amended';
  readonly added: number;
  readonly corrected: number;
}

/** Leaves companies out: `exclude` while they wait; `skip` if they failed, wait for another try, or are unknown. */
export interface LeaveOut extends DecisionBase {
  readonly kind: 'exclude' | 'skip';
  readonly companies: readonly string[];
  readonly reason: string;
}

/** Tries companies again: `retry` repeats the move, `relink` checks them after their end customers reconnected. */
export interface Retry extends DecisionBase {
  readonly kind: 'retry' | 'relink';
  readonly companies: Companies;
}

/** Tries to move companies with the new credentials that are staged in the vault. */
export interface CredentialReplacement extends DecisionBase, SealedSupply {
  readonly kind: 'replace-credential';
  readonly companies: readonly string[];
}

/** Changes limits, including those of a running batch. */
export interface Adjustment extends DecisionBase {
  readonly kind: 'adjust';
  readonly limits: LimitsChange;
}

/**
 * Adds an approver after support has compared the key's fingerprint with that person, or removes an approver who has
 * lost a device or has left.
 */
export interface ApproverDecision extends DecisionBase {
  readonly kind: 'add-approver' | 'remove-approver';
  readonly approver: Approver;
}

export interface MigrationControl extends DecisionBase {
  readonly kind: 'pause' | 'resume' | 'cancel';
}

export type Decision =
  | StepDecision
  | TimeProposal
  | FirstCompanyChoice
  | SyncDisabledConfirmation
  | CredentialsSupplied
  | ApplicationSupplied
  | ManifestSupplied
  | ManifestAmended
  | LeaveOut
  | Retry
  | CredentialReplacement
  | Adjustment
  | ApproverDecision
  | MigrationControl;

/**
 * The value of a payload that cannot be decoded. A message with this value is refused like any other malformed message.
 * Only the payload converter and the workflow's interceptor create it, so no sender can imitate it.
 */
export class UnreadablePayload {
  /**
   * @param unreadable the reason, for people
   * @param missingKey the id of the payload key that this worker does not have; empty if the payload names no valid
   *   key; null if the reason is not a missing key
   */
  constructor(
    readonly unreadable: string,
    readonly missingKey: string | null = null,
  ) {}
}

/** A message that could not be parsed as a decision. Its content is not kept, because it could contain a secret. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly decisionId: string;
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
