/** How many companies of a migration are in each state, and what follows from these counts. */
import type { ClientState } from './company-state';

/** How many companies of a migration are in each state, and how many of the waiting companies still need something. */
export interface Counts {
  readonly total: number;
  /** Waiting and not held back, but the client has not confirmed that its own application has stopped syncing. */
  readonly unconfirmed: number;
  /** The part of `unconfirmed` that belongs to the first wave. */
  readonly unconfirmedInFirstWave: number;
  /** The part of `unconfirmed` in the lowest wave with unconfirmed companies. Absent if it was not counted. */
  readonly unconfirmedInNextWave?: number;
  /**
   * The part of `unconfirmedInNextWave` that needs a credential after its confirmation, because none is stored or the
   * platform rotates tokens. Absent if it was not counted.
   */
  readonly lackingCredentialInNextWave?: number;
  /** Waiting, not held back and confirmed, but without a usable credential. */
  readonly withoutCredential: number;
  /** The first five references of `withoutCredential`; null or absent if there are none, or if they are unknown. */
  readonly firstWithoutCredential?: readonly string[] | null;
  /** Waiting for a correction, or for the check of an added or corrected row, even if something else is missing too. */
  readonly heldBack: number;
  readonly waiting: number;
  readonly importing: number;
  readonly syncing: number;
  readonly moved: number;
  readonly failed: number;
  /** The part of `failed` whose end customer has to reconnect. */
  readonly mustReconnect: number;
  /** The part of `failed` that a person has relinked, and that has not reconnected; absent if it was not counted. */
  readonly relinked?: number;
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
  /** Waiting with everything they need and tried before, but not deferred; absent if it was not counted. */
  readonly retried?: number;
  /** The first five references of `retried`; null or absent if there are none, or if they are unknown. */
  readonly firstRetried?: readonly string[] | null;
  /** Digest of the not moved, left-out and unknown companies, with their states and failures; null if none. */
  readonly exceptionsDigest: string | null;
  /** The ledger's mark at the time of the count. Only activities set it; the state keeps the highest mark. */
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
 * Returns whether new counts are the same as earlier counts, including the references. Compares only the fields of the
 * new counts, because a worker of an older version leaves out some fields, which is not a change.
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

/** Counts the companies that a batch run is moving, or can move without anyone supplying anything. */
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

/** Returns whether companies can be moved, but all of them are deferred. */
export function waitsForDeferred(counts: Counts): boolean {
  return countReadyOrMoving(counts) > 0 && onlyDeferredLeft(counts);
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

/**
 * Counts the exceptions. Unlike the lists of `ferry exceptions` and the portal, omits companies whose only problem is a
 * missing credential or a replaced application.
 */
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
