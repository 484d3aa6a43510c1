/** The decisions that people send, and what becomes of each. */
import type { Role, Step } from './steps';

/** Every message names itself, so that the same one sent twice counts once, and says who sends it. */
interface Sent {
  readonly decisionId: string;
  readonly role: Role;
  /** The person. With signed decisions it comes from the signature, otherwise it is taken as said. */
  readonly by: string;
  readonly reason?: string;
}

/** What is to be tried after the first company was rejected. */
export type NextAfterRejection =
  | { readonly next: 'same-company' }
  | { readonly next: 'another-company'; readonly row: number }
  | { readonly next: 'abandon' };

export interface StepDecision extends Sent {
  readonly kind: 'step';
  readonly step: Step;
  readonly verdict: 'approve' | 'reject';
  readonly afterwards?: NextAfterRejection;
}

export interface TimeProposal extends Sent {
  readonly kind: 'time';
  /** ISO 8601, UTC. */
  readonly startAt: string;
}

/** The client's word that its own application no longer uses the token of these companies. */
export interface SyncDisabled extends Sent {
  readonly kind: 'sync-disabled';
  /** References of the manifest, at most 1,000 in one message, or all. */
  readonly companies: 'all' | readonly string[];
}

/** Somebody supplied credentials: they are in the vault, this only says so. */
export interface CredentialsSupplied extends Sent {
  readonly kind: 'credentials-supplied';
  readonly companies: number;
}

export interface PauseOrResume extends Sent {
  readonly kind: 'pause' | 'resume';
}

export type Decision = StepDecision | TimeProposal | SyncDisabled | CredentialsSupplied | PauseOrResume;

export interface Outcome {
  readonly decisionId: string;
  readonly applied: boolean;
  /** What changed, or why nothing did. One sentence. */
  readonly text: string;
  readonly at: string;
}
