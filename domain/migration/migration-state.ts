/**
 * What one migration knows of itself: a few kilobytes of plain JSON, however many companies it has.
 *
 * It crosses continue-as-new and answers queries, so it holds no Map, Set, Date or class. Companies are in the ledger.
 */
import type { Counts } from '../companies/company-state';
import { NO_COUNTS } from '../companies/company-state';
import type { Decision, Outcome, Unreadable } from './decision';
import type { Estimate } from '../planning/estimate';
import type { Evidence } from '../companies/evidence';
import type { FailureKind, StopReason } from '../companies/failures';
import type { MigrationLimits } from '../planning/limits';
import type { FindingCode } from '../companies/manifest';
import type { MigrationPlan } from './plan';
import type { Route } from '../../platforms/platforms';
import type { Role, Step } from './steps';
import type { LastSigned, SignedMessage } from './signatures';
import type { Outage } from './outage';
import type { WindowOccurrence, ScheduleState } from '../planning/windows';

/** How a migration ends: handed over, given up after its first company, or ended by a decision on the way. */
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

/** What the preflight found, a sentence for each kind; no problems: the details are good. */
export interface Preflight {
  readonly companies: number;
  /** Of the rows that were checked, credentials not among them; null: there are none. */
  readonly manifestDigest: string | null;
  /** Who supplied them. */
  readonly suppliedBy: string | null;
  readonly problems: readonly string[];
  /** Of which kinds they are. */
  readonly problemCodes: readonly FindingCode[];
  /** For a person to judge. */
  readonly warnings: readonly string[];
  /** Companies that are not moved until something about them is corrected. The ledger says what. */
  readonly heldBack: number;
  /** The service's callback URL, which the client adds to its application at the platform. */
  readonly callbackUrl: string | null;
}

/** When to start: a proposal of either side, in force once both have approved it. */
export interface Proposal {
  readonly startAt: string;
  readonly role: Role;
  readonly by: string;
  readonly at: string;
}

export interface FirstCompany {
  readonly row: number;
  readonly reference: string;
  readonly stage: 'importing' | 'proven' | 'failed';
  readonly failure: FailureKind | null;
  readonly evidence: readonly Evidence[];
}

/** A company that somebody wants to go first. */
export interface WantedFirst {
  readonly reference: string;
  /** It cannot be moved as it is: it lacks something, or the manifest lacks it. */
  readonly heldUp: boolean;
}

export interface Pause {
  readonly reason: string;
  /** Null: the migration paused itself. */
  readonly by: string | null;
  readonly stop: StopReason | null;
  readonly at: string;
}

/** A wait for somebody, and what has been said about it. */
export interface Wait {
  /** Another step or other roles make another wait. */
  readonly about: string;
  readonly since: string;
  readonly reminders: number;
  readonly escalated: boolean;
  readonly stopTold: boolean;
}

export interface MigrationState {
  readonly route: Route;
  readonly step: Step;
  readonly closed: Ending | null;
  /** The plan's limits as they are now. */
  readonly limits: MigrationLimits;
  readonly steps: Readonly<Partial<Record<Step, StepTimes>>>;
  readonly approvals: readonly Approval[];
  readonly preflight: Preflight | null;
  /** How often the details have been changed, and how many of these changes have been checked. */
  readonly changes: number;
  readonly changesChecked: number;
  /** Who has supplied or corrected something since the start. */
  readonly suppliers: readonly string[];
  readonly estimate: Estimate | null;
  readonly proposal: Proposal | null;
  /** When companies may be started, as far as the plan says: the present or the next opening of its windows. */
  readonly opening: WindowOccurrence | null;
  /** The opening that was opened last: by the Schedule, or by whoever triggered it. */
  readonly opened: WindowOccurrence | null;
  readonly schedule: ScheduleState;
  /** How often it was told that something outside of it has changed. */
  readonly looks: number;
  readonly firstCompany: FirstCompany | null;
  /** The company that is to go first; null: the first that can be moved. */
  readonly wantedFirst: WantedFirst | null;
  readonly counts: Counts;
  /** Companies whose end customers are expected to connect again; more after a decision, until it was looked. */
  readonly relinking: number;
  readonly batchRuns: number;
  /** Nothing gets through to the service or its platform; null: something does. */
  readonly standstill: Outage | null;
  readonly pause: Pause | null;
  /** Whom the migration waits for, since when, and what has been said about it. */
  readonly wait: Wait | null;
  /** What became of the latest decisions, oldest first; older ones are in the audit trail. */
  readonly outcomes: readonly Outcome[];
  /** Decided, but not yet in the audit trail. */
  readonly unrecorded: readonly Recorded[];
  /** Absent: nobody has signed anything yet. */
  readonly lastSigned?: LastSigned;
}

export interface Recorded {
  readonly decision: Decision | Unreadable;
  readonly outcome: Outcome;
  /** As it was signed, where it was. */
  readonly signed?: SignedMessage;
}

/** Before anything has happened. */
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
    opening: null,
    opened: null,
    schedule: 'none',
    looks: 0,
    firstCompany: null,
    wantedFirst: firstCompany === null ? null : { reference: firstCompany, heldUp: false },
    counts: NO_COUNTS,
    relinking: 0,
    batchRuns: 0,
    standstill: null,
    pause: null,
    wait: null,
    outcomes: [],
    unrecorded: [],
  };
}
