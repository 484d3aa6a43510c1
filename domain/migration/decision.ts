/** The decisions that people send, and what becomes of each. */
import type { LimitsChange } from '../planning/limits';
import type { Role, Step } from './steps';
import type { Window } from '../planning/windows';

/** Every message names itself, so that the same one sent twice counts once, and says who sends it. */
export interface Sender {
  readonly decisionId: string;
  readonly role: Role;
  /** The person. With signed decisions it comes from the signature, otherwise it is taken as said. */
  readonly by: string;
  readonly reason?: string;
  /** Of exactly what the sender saw, see `digests.ts`; compared when the decision is applied. */
  readonly digest?: string;
  /** ISO 8601, UTC. Applied later than this, it is refused: it may have waited long for a worker. */
  readonly validUntil?: string;
}

/** What is to be tried after the first company was rejected. */
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
  /** Absent: as the plan has them. Empty: companies may be started at any time. */
  readonly windows?: readonly Window[];
}

/** Which company goes first: before it is moved, or instead of one that was. */
export interface FirstCompanyChosen extends Sender {
  readonly kind: 'first-company';
  readonly reference: string;
}

/** References of the manifest, at most 1,000 in one message, or every company that the decision can be about. */
export type Companies = 'all' | readonly string[];

/** The client's word that its own application no longer uses the token of these companies. */
export interface SyncDisabled extends Sender {
  readonly kind: 'sync-disabled';
  readonly companies: Companies;
}

/** Somebody supplied credentials: they are in the vault, this only says so. */
export interface CredentialsSupplied extends Sender {
  readonly kind: 'credentials-supplied';
  readonly companies: number;
}

/** The client's application was given to the service, its secret with it; this says which it is. */
export interface ApplicationSupplied extends Sender {
  readonly kind: 'application-supplied';
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
}

/** Rows were added to the ledger, or corrected there: they are checked and confirmed again. */
export interface ManifestAmended extends Sender {
  readonly kind: 'manifest-amended';
  readonly added: number;
  readonly corrected: number;
}

/** These companies are not moved at all: left out before the crossing, given up after a failure. */
export interface LeftOut extends Sender {
  readonly kind: 'exclude' | 'skip';
  readonly companies: readonly string[];
  readonly reason: string;
}

/** What failed is tried again: the move, or the check after the end customer has connected again. */
export interface TriedAgain extends Sender {
  readonly kind: 'retry' | 'relink';
  readonly companies: Companies;
}

/** New credentials for companies that were not moved are in the vault: they are to be moved with these. */
export interface CredentialsReplaced extends Sender {
  readonly kind: 'replace-credential';
  readonly companies: readonly string[];
}

/** The plan's limits, changed for what is under way too. */
export interface Adjustment extends Sender {
  readonly kind: 'adjust';
  readonly limits: LimitsChange;
}

export interface Halt extends Sender {
  readonly kind: 'pause' | 'resume' | 'cancel';
}

export type Decision =
  | StepDecision
  | TimeProposal
  | FirstCompanyChosen
  | SyncDisabled
  | CredentialsSupplied
  | ApplicationSupplied
  | ManifestAmended
  | LeftOut
  | TriedAgain
  | CredentialsReplaced
  | Adjustment
  | Halt;

/** A message that could not be read as a decision. Its content is not kept: it may hold anything, a secret too. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly decisionId: string;
  /** The message's wire name. */
  readonly message: string;
  /** As far as it said so. */
  readonly role: Role | null;
  readonly by: string | null;
}

export interface Outcome {
  readonly decisionId: string;
  readonly applied: boolean;
  /** What changed, or why nothing did. One sentence. */
  readonly text: string;
  readonly at: string;
  /** The message could not be read; one that can be, under the same id, counts. */
  readonly malformed?: true;
}
