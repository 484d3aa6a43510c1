/**
 * The state of a migration in its workflow: plain JSON, whose size does not depend on the number of companies.
 *
 * Continue-as-new and queries serialize it, so it contains no Map, Set, Date or class. The companies are in the ledger.
 */
import { NO_COUNTS, type Counts } from '../companies/counts';
import type { Decision, Outcome, Unreadable } from './decision';
import type { Estimate } from '../planning/estimate';
import type { Evidence } from '../companies/evidence';
import type { FailureKind, StopReason } from '../companies/failures';
import type { MigrationLimits } from '../planning/limits';
import type { MigrationPlan } from './plan';
import type { Route } from '../../platforms/platforms';
import type { Role, Step } from './steps';
import type { ApproverChange } from './approvers';
import type { LastSigned, SignedMessage } from './signatures';
import type { Outage } from './outage';
import type { Throughput } from '../planning/throughput';
import type { WindowOccurrence, ScheduleState } from '../planning/windows';
import type { Preflight } from './preflight-result';

/** How a migration ended: completed (signed off, if managed), abandoned after its first company, or cancelled. */
export type Ending = 'completed' | 'abandoned' | 'cancelled';

export function isEnding(word: string): word is Ending {
  return word === 'completed' || word === 'abandoned' || word === 'cancelled';
}

export interface StepTimes {
  readonly openedAt: string | null;
  readonly endedAt: string | null;
}

export interface Approval {
  readonly step: Step;
  readonly role: Role;
  readonly by: string;
  readonly at: string;
}

/** A proposed start. It takes effect when both sides have approved it. */
export interface Proposal {
  readonly startAt: string;
  readonly role: Role;
  readonly by: string;
  readonly at: string;
}

export interface FirstCompany {
  readonly row: number;
  readonly reference: string;
  readonly stage: 'importing' | 'verified' | 'failed';
  readonly failure: FailureKind | null;
  readonly evidence: readonly Evidence[];
  /** When the result was read. ISO 8601, UTC. Absent until there is a result, or if an earlier version read it. */
  readonly checkedAt?: string;
}

/** The company that was chosen to go first. */
export interface ChosenFirstCompany {
  readonly reference: string;
  /** True if the company is not ready to move, or is not in the manifest. */
  readonly notReady: boolean;
}

export interface Pause {
  readonly reason: string;
  /** Null if the migration paused itself. */
  readonly by: string | null;
  /** The side of the person. Absent if the migration paused itself, or if an earlier version recorded the pause. */
  readonly role?: Role;
  readonly stopReason: StopReason | null;
  readonly at: string;
}

/** A company whose end customer must reconnect, with the link to send. */
export interface ReconnectLink {
  readonly reference: string;
  readonly name: string;
  readonly url: string;
}

/**
 * Who reopened a step, rejected its result or withdrew a sign-off, and why. Kept in the state until the step has ended.
 * In step 6, kept only until the role that rejected the handover, or every role whose sign-off was withdrawn, has
 * signed off.
 */
export interface Reopened {
  readonly step: Step;
  readonly by: string;
  readonly role: Role;
  /** Null if none was given. */
  readonly reason: string | null;
  readonly at: string;
  /** The first company that was rejected in step 5. Absent for other steps. */
  readonly company?: string;
  /** True if support has rejected details without errors, and they have not changed since. Otherwise absent. */
  readonly asksForChanges?: true;
  /**
   * True if a proposal of a start has reopened step 2; false if a person has rejected the step. Absent for other steps,
   * and if an earlier version recorded the decision.
   */
  readonly proposed?: boolean;
  /**
   * The roles whose sign-off the decision of `by` has withdrawn, until they sign off again. Absent if the handover was
   * rejected, and for other steps.
   */
  readonly withdrawn?: readonly Role[];
}

/** The checks of whether end customers have reconnected their companies. */
export interface ReconnectionChecks {
  /** The number of checks that have been requested. */
  readonly asked: number;
  /** The number of requested checks that have ended. */
  readonly answered: number;
  /** When the service was last asked about all of these companies, by the ledger's clock; null if it never was. */
  readonly checkedAt: string | null;
}

/** For each step, the id of the latest decision that changed the facts which people review before approving it. */
export type Revisions = Readonly<Partial<Record<Step, string>>>;

/** Who cancelled or abandoned a migration, and why. */
export interface EndedBy {
  readonly by: string;
  readonly role: Role;
  /** Null if none was given. */
  readonly reason: string | null;
  readonly at: string;
}

/** A wait for people, and the notices that have been sent about it. */
export interface Wait {
  /** Identifies the wait by its step, the roles, and whether the migration is paused. */
  readonly key: string;
  readonly since: string;
  readonly reminders: number;
  readonly escalated: boolean;
  readonly stopNotified: boolean;
}

export interface MigrationState {
  readonly route: Route;
  readonly step: Step;
  readonly closed: Ending | null;
  readonly limits: MigrationLimits;
  readonly steps: Readonly<Partial<Record<Step, StepTimes>>>;
  readonly approvals: readonly Approval[];
  readonly preflight: Preflight | null;
  /** Number of changes to the supplied details. */
  readonly changes: number;
  /** The number of these changes that the preflight has checked. */
  readonly changesChecked: number;
  /** The people who have supplied or corrected details since the start. */
  readonly suppliers: readonly string[];
  readonly estimate: Estimate | null;
  readonly proposal: Proposal | null;
  /** The current or next occurrence of the windows; null until read in step 5 or 6, or if there are no windows. */
  readonly window: WindowOccurrence | null;
  /** The occurrence that was opened last, by the Schedule or by a manual trigger. */
  readonly openedWindow: WindowOccurrence | null;
  readonly schedule: ScheduleState;
  /**
   * True if moves continue in a window that was opened, and the Schedule is paused, so that no further window opens.
   * Absent otherwise.
   */
  readonly noFurtherWindow?: true;
  /** Each increase makes the workflow look for companies to move. Wake signals and reconnection checks can raise it. */
  readonly wakes: number;
  readonly firstCompany: FirstCompany | null;
  /** The company that was chosen to go first; null: the first company that can be moved goes first. */
  readonly requestedFirst: ChosenFirstCompany | null;
  readonly counts: Counts;
  /**
   * Number of companies that are waiting for their end customer to reconnect. A `relink` decision adds 1, and the next
   * check for reconnected companies corrects the number.
   */
  readonly relinking: number;
  /** Absent until the first check. */
  readonly reconnections?: ReconnectionChecks;
  /** True once decisions were needed while only deferred companies were left. Absent in earlier versions' histories. */
  readonly asksWhileDeferred?: true;
  /** True once `counts.relinked` has changed the task in `waitingFor`. Absent in earlier versions' histories. */
  readonly countsRelinked?: true;
  /**
   * True once a rejected application can be replaced before the first company. Absent in earlier versions' histories.
   */
  readonly replacesRejected?: true;
  /**
   * True once a decision arrived during a wait in self-service, which goes on. Absent in earlier versions' histories.
   */
  readonly keepsWait?: true;
  readonly batchRuns: number;
  /** The current outage; null if calls get through. */
  readonly outage: Outage | null;
  /** The automatic pause; null if there is none. An earlier version also kept the pause of a person in this field. */
  readonly pause: Pause | null;
  /** The pauses of people, oldest first, one per side. Absent or null in a state of an earlier version. */
  readonly pausesByPeople?: readonly Pause[] | null;
  /**
   * The latest decision that rejected a result, reopened a step or withdrew a sign-off. A withdrawal does not replace a
   * rejection of the handover. Absent in a state that an earlier version carried over.
   */
  readonly reopened?: Reopened | null;
  /** Absent, or null, if there are none. */
  readonly revisions?: Revisions | null;
  /** Null unless a person has cancelled or abandoned the migration. Absent in a state of an earlier version. */
  readonly endedBy?: EndedBy | null;
  /** The current wait for people; null if no person has to act. */
  readonly wait: Wait | null;
  /** The outcomes of the latest decisions, oldest first. Older outcomes are in the audit trail. */
  readonly outcomes: readonly Outcome[];
  /** Decisions that are not in the audit trail yet. */
  readonly unrecorded: readonly UnrecordedDecision[];
  /** The highest mark of the ledger that the workflow has seen. Absent until it has seen one. */
  readonly ledgerMark?: number;
  /** The latest throughput that the workflow has seen. Absent until it has seen one. */
  readonly throughput?: Throughput;
  /** Number of companies that depend on a replaced application, by the latest count. Absent until they are counted. */
  readonly replacedApplication?: number;
  /** The links of at most 20 of the companies that must reconnect. Absent until the migration has ended. */
  readonly reconnect?: readonly ReconnectLink[];
  /** Absent until the first decision whose signature is accepted. */
  readonly lastSigned?: LastSigned;
  /** The applied decisions about approvers, oldest first. Absent, or null, if there are none. */
  readonly approverChanges?: readonly ApproverChange[] | null;
}

/** A decision as it is recorded in the audit trail. */
export interface DecisionRecord {
  readonly decision: Decision | Unreadable;
  readonly outcome: Outcome;
  /** The signed message. Absent if the decision was not signed, or its signature is neither required nor valid. */
  readonly signed?: SignedMessage;
}

/** A decision that the workflow has ruled on and the ledger has not recorded yet. */
export interface UnrecordedDecision extends DecisionRecord {
  /** The fields that the decision changed, with their earlier values, in case the ledger refuses it. */
  readonly undo?: Partial<MigrationState>;
}

/** Moves figures that were read with the counts, such as the mark, to the state. Keeps the highest mark. */
export function withLedgerReadings(state: MigrationState): MigrationState {
  const { ledgerMark, throughput, replacedApplication, ...counts } = state.counts;
  if (ledgerMark === undefined && throughput === undefined && replacedApplication === undefined) return state;
  return {
    ...state,
    counts,
    ...(ledgerMark === undefined ? {} : { ledgerMark: Math.max(ledgerMark, state.ledgerMark ?? 0) }),
    ...(throughput === undefined ? {} : { throughput }),
    ...(replacedApplication === undefined ? {} : { replacedApplication }),
  };
}

/** Returns the initial state. */
export function newMigration({
  firstCompany,
  limits,
  route = 'managed',
}: Pick<MigrationPlan, 'firstCompany' | 'limits'> & Partial<Pick<MigrationPlan, 'route'>>): MigrationState {
  return {
    route,
    step: 'supply-details',
    closed: null,
    limits,
    steps: {},
    approvals: [],
    preflight: null,
    changes: 0,
    changesChecked: 0,
    suppliers: [],
    estimate: null,
    proposal: null,
    window: null,
    openedWindow: null,
    schedule: 'none',
    wakes: 0,
    firstCompany: null,
    requestedFirst: firstCompany === null ? null : { reference: firstCompany, notReady: false },
    counts: NO_COUNTS,
    relinking: 0,
    batchRuns: 0,
    outage: null,
    pause: null,
    pausesByPeople: [],
    reopened: null,
    endedBy: null,
    wait: null,
    outcomes: [],
    unrecorded: [],
  };
}
