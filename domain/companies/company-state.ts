/**
 * The state of a company, how many companies are in each state, and the six words shown to clients.
 *
 * The ledger stores the state. Only the claim, and reconciling a company whose outcome is unknown, set it to
 * `importing`.
 */
import type { FailureKind } from './failures';

export const COMPANY_STATES = [
  'waiting',
  'importing',
  'syncing',
  'moved',
  'failed',
  'skipped',
  'excluded',
  'outcome-unknown',
] as const;

export type CompanyState = (typeof COMPANY_STATES)[number];

/** The reason for which a company is held back until the preflight has checked its added or corrected row. */
export const NOT_CHECKED = 'not checked yet';

/** Returns whether the final outcome of a company is still unknown. */
export function isOpen(state: CompanyState): boolean {
  return state === 'waiting' || state === 'importing' || state === 'syncing' || state === 'outcome-unknown';
}

/** The words that describe the state of a company to people. Each key is a value of `--state`. */
export const CLIENT_STATES = {
  moved: 'moved',
  moving: 'moving',
  'not-moved-yet': 'not moved yet',
  'must-reconnect': 'must reconnect',
  'not-moved': 'not moved',
  'left-out': 'left out',
} as const;

export type ClientState = keyof typeof CLIENT_STATES;

/**
 * The stage of a migration, which decides whether companies can still move. `terminated`: its workflow has ended in
 * Temporal, but support has not closed it yet, so no company moves or is checked. `ended`: no company moves any more,
 * and companies that were moving are checked.
 */
export type MoveStage = 'open' | 'terminated' | 'ended';

/** The words for a company that was moving when the migration reached the stage. */
const MOVING_WORDS: Readonly<Record<MoveStage, string>> = {
  open: CLIENT_STATES.moving,
  terminated: 'interrupted',
  ended: 'still being checked',
};

/** Returns the words for the states of companies, also after numbers of companies. */
export function clientStateWords(stage: MoveStage): Readonly<Record<ClientState, string>> {
  return { ...CLIENT_STATES, moving: MOVING_WORDS[stage] };
}

/**
 * Returns the key in `CLIENT_STATES` for the state of a company. The key of a failed company also depends on the
 * failure.
 *
 * @param hasEnded true if no company moves any more, because the migration or its workflow has ended. A company that had
 *   not been moved yet is then not moved
 */
export function clientStateOf(state: CompanyState, failure: FailureKind | null, hasEnded = false): ClientState {
  switch (state) {
    case 'moved':
      return 'moved';
    case 'importing':
    case 'syncing':
      return 'moving';
    case 'waiting':
    case 'outcome-unknown':
      return hasEnded ? 'not-moved' : 'not-moved-yet';
    case 'failed':
      return failure === 'reauthorization-required' ? 'must-reconnect' : 'not-moved';
    case 'skipped':
    case 'excluded':
      return 'left-out';
  }
}

/** Returns the words that people read for the state of a company: *moved*, *must reconnect* and so on. */
export function clientStateText(state: CompanyState, failure: FailureKind | null, stage: MoveStage = 'open'): string {
  return clientStateWords(stage)[clientStateOf(state, failure, stage !== 'open')];
}

/**
 * Returns why a waiting company was not moved, once no company moves any more; null while it can still be moved.
 *
 * @param tries number of times that its import was tried
 */
export function unreachedText(stage: MoveStage, tries: number): string | null {
  if (stage === 'open') return null;
  return `the migration ${stage === 'ended' ? 'ended' : 'was stopped'} before the company was ${tries > 0 ? 'tried again' : 'moved'}`;
}

/** Says why a company was not moved: `must reconnect: the authorization no longer works`. */
export function notMovedText(state: ClientState, why: string | null): string {
  const text = CLIENT_STATES[state];
  if (why === null) return text;
  // Some reasons already begin with the state.
  return why.startsWith(`${text}: `) ? why : `${text}: ${why}`;
}

/**
 * Says why a company was left out, and what had gone wrong before: `sold; before that: not all records have arrived`.
 *
 * @returns null if neither is known
 */
export function leftOutText(reason: string | null, failure: string | null): string | null {
  if (failure === null) return reason;
  return reason === null ? failure : `${reason}; before that: ${failure}`;
}

/** The ledger states and failures that a client state covers. */
export interface LedgerStates {
  readonly states: readonly CompanyState[];
  /** Absent: any failure. True: only `reauthorization-required`. False: any other failure, or none. */
  readonly mustReconnect?: boolean;
}

/** Returns the ledger states and failures that a client state covers: the inverse of `clientStateOf`. */
export function ledgerStatesOf(clientState: ClientState, hasEnded = false): LedgerStates {
  const states = COMPANY_STATES.filter((state) => clientStateOf(state, null, hasEnded) === clientState);
  switch (clientState) {
    case 'must-reconnect':
      return { states: ['failed'], mustReconnect: true };
    case 'not-moved':
      return { states, mustReconnect: false };
    case 'moved':
    case 'moving':
    case 'not-moved-yet':
    case 'left-out':
      return { states };
  }
}

/** How many companies of a migration are in each state, and how many of the waiting companies still need something. */
export interface Counts {
  readonly total: number;
  /** Waiting and not held back, but the client has not confirmed that its own application has stopped syncing. */
  readonly unconfirmed: number;
  /** The part of `unconfirmed` that belongs to the first wave. */
  readonly unconfirmedInFirstWave: number;
  /**
   * The part of `unconfirmed` that belongs to the lowest wave with unconfirmed companies. Absent if it was not counted.
   */
  readonly unconfirmedInNextWave?: number;
  /** Waiting, not held back and confirmed, but without a usable credential. */
  readonly withoutCredential: number;
  /** The first five references of `withoutCredential`; null or absent if there are none, or if they are unknown. */
  readonly firstWithoutCredential?: readonly string[] | null;
  /** Waiting for a correction, or for the preflight to check a correction, even if something else is missing too. */
  readonly heldBack: number;
  readonly waiting: number;
  readonly importing: number;
  readonly syncing: number;
  readonly moved: number;
  readonly failed: number;
  /** The part of `failed` whose end customer has to reconnect. */
  readonly mustReconnect: number;
  readonly skipped: number;
  readonly excluded: number;
  /**
   * The first five references of failed or left-out companies; null or absent if there are none, or if they are
   * unknown.
   */
  readonly firstNotMoved?: readonly string[] | null;
  readonly outcomeUnknown: number;
  /** Waiting again, although their credential was handed over or might have been; absent if it was not counted. */
  readonly waitingAgain?: number | undefined;
  /** Waiting with everything they need, but deferred by the service or the platform; absent if it was not counted. */
  readonly deferred?: number;
  /**
   * Waiting with everything they need, tried before, and not deferred, for example after a retry. Absent if it was not
   * counted.
   */
  readonly retried?: number;
  /** The first five references of `retried`; null or absent if there are none, or if they are unknown. */
  readonly firstRetried?: readonly string[] | null;
  /**
   * Digest of the companies that were not moved, were left out or have an unknown outcome, with their reasons; null if
   * there are none.
   */
  readonly exceptionsDigest: string | null;
  /**
   * The ledger's mark when the companies were counted. Only activities set it. The migration's state keeps the highest
   * mark.
   */
  readonly ledgerMark?: number;
  /**
   * The companies that were moved recently, and the length of that period in milliseconds. Only activities set it. The
   * migration's state keeps the latest throughput.
   */
  readonly throughput?: { readonly moved: number; readonly withinMs: number };
  /**
   * The companies that depend on an application that was replaced after they were connected. Only activities set it.
   * The migration's state keeps the latest number.
   */
  readonly replacedApplication?: number;
}

/**
 * Returns whether a new count has the same result as an earlier one, including the references that they name. Compares
 * only what was counted now. A worker of an older version counts less, which is no change.
 */
export function isSameCounts(counts: Counts, before: Counts): boolean {
  // Compares JSON, because two lists with the same references are different objects.
  return (Object.keys(counts) as (keyof Counts)[]).every(
    (count) => JSON.stringify(counts[count]) === JSON.stringify(before[count]),
  );
}

export const NO_COUNTS: Counts = {
  total: 0,
  unconfirmed: 0,
  unconfirmedInFirstWave: 0,
  withoutCredential: 0,
  heldBack: 0,
  waiting: 0,
  importing: 0,
  syncing: 0,
  moved: 0,
  failed: 0,
  mustReconnect: 0,
  skipped: 0,
  excluded: 0,
  outcomeUnknown: 0,
  exceptionsDigest: null,
};

/**
 * Returns how many companies are in each client state.
 *
 * @param hasEnded see `clientStateOf`
 */
export function clientCounts(counts: Counts, hasEnded = false): Readonly<Record<ClientState, number>> {
  const waiting = counts.waiting + counts.outcomeUnknown;
  return {
    moved: counts.moved,
    moving: counts.importing + counts.syncing,
    'not-moved-yet': hasEnded ? 0 : waiting,
    'must-reconnect': counts.mustReconnect,
    'not-moved': counts.failed - counts.mustReconnect + (hasEnded ? waiting : 0),
    'left-out': counts.skipped + counts.excluded,
  };
}

/** Counts the companies without a final outcome. A migration can be signed off only if there are none. */
export function countOpen(counts: Counts): number {
  return counts.waiting + counts.importing + counts.syncing + counts.outcomeUnknown;
}

/** Counts the companies that a batch run can move, or is already moving, without anyone supplying anything. */
export function countReadyOrMoving(counts: Counts): number {
  const lacking = counts.unconfirmed + counts.withoutCredential + counts.heldBack;
  return counts.waiting - lacking + counts.importing + counts.syncing;
}

/** Counts the companies of {@link countReadyOrMoving} that are not deferred. A company can be deferred for hours. */
export function countUndeferred(counts: Counts): number {
  return countReadyOrMoving(counts) - (counts.deferred ?? 0);
}

/** Returns whether no company is moving, and every company that can be moved is deferred. */
export function onlyDeferredLeft(counts: Counts): boolean {
  return countUndeferred(counts) === 0;
}

/**
 * Returns whether unconfirmed companies have to be confirmed now. Until it is their turn, they keep syncing in the
 * client's application. Their turn comes when every confirmed company has a credential, and only deferred companies are
 * left to move. If `unconfirmedInNextWave` was not counted, missing credentials do not delay the confirmation.
 */
export function isConfirmationDue(counts: Counts): boolean {
  const { unconfirmed, withoutCredential, unconfirmedInNextWave } = counts;
  const isTheirTurn = withoutCredential === 0 || unconfirmedInNextWave === undefined;
  return unconfirmed > 0 && isTheirTurn && onlyDeferredLeft(counts);
}

/** Counts the exceptions, as `ferry exceptions` and the portal list them. */
export function countExceptions({ failed, outcomeUnknown, heldBack, deferred = 0 }: Counts): number {
  return failed + outcomeUnknown + heldBack + deferred;
}

/** Counts the companies with a final outcome, good or bad. */
export function countFinished(counts: Counts): number {
  return counts.total - countOpen(counts);
}

/**
 * Returns whether the counts show that a credential of this migration might have been handed to the service. Skipped
 * companies count too, because each of them was tried before it was skipped.
 */
export function mayHaveCrossed(counts: Counts): boolean {
  const { importing, syncing, moved, failed, skipped, outcomeUnknown, waitingAgain = 0 } = counts;
  return importing + syncing + moved + failed + skipped + outcomeUnknown + waitingAgain > 0;
}
