/** Pacing: how fast moves begin, how many stragglers a ramp can leave, and how often syncs are polled. */
import type { MigrationLimits } from './limits';

const MINUTE_MS = 60_000;

/** The pace of a batch, divided among its slices. */
export interface Pace {
  /** Slices that import at the same time. */
  readonly slices: number;
  /** The number of moves that a slice begins together. */
  readonly companies: number;
  /** After beginning moves, a slice waits this long per move before it begins others. Milliseconds; 0 for no limit. */
  readonly waitMs: number;
}

/** Moves that are due within this time begin together, because every claim costs a few SQL statements. */
const GROUP_WITHIN_MS = 1_000;

/**
 * Divides the limits among the slices.
 *
 * At a low rate, fewer slices run: only as many as are needed to have one minute's companies in progress at the same
 * time. The reason: each slice costs an activity slot, heartbeats and history events, even while it waits.
 *
 * With a rate, moves begin evenly over the minute. If a minute's companies began together, the service and the workers
 * would be overloaded for seconds and idle for the rest of the minute, and other migrations would have to wait.
 */
export function paceOf({
  slicesAtOnce,
  companiesPerSliceAtOnce,
  companiesPerMinute,
}: Pick<MigrationLimits, 'slicesAtOnce' | 'companiesPerSliceAtOnce' | 'companiesPerMinute'>): Pace {
  if (companiesPerMinute === null) return { slices: slicesAtOnce, companies: companiesPerSliceAtOnce, waitMs: 0 };
  const slices = Math.min(slicesAtOnce, Math.ceil(companiesPerMinute / companiesPerSliceAtOnce));
  const waitMs = (slices * MINUTE_MS) / companiesPerMinute;
  const companies = Math.min(companiesPerSliceAtOnce, Math.ceil(GROUP_WITHIN_MS / waitMs));
  return { slices, companies, waitMs };
}

/**
 * Returns how long it takes to begin the moves of these companies at the limit. Milliseconds; 0 without a limit.
 *
 * @param companiesPerMinute null if there is no limit
 */
export function timeAtPace(companies: number, companiesPerMinute: number | null): number {
  return companiesPerMinute === null ? 0 : (Math.max(0, companies) / companiesPerMinute) * MINUTE_MS;
}

/**
 * Returns how many companies of a ramp can still be syncing when the other moves begin: one in ten, and at least one in
 * a ramp of two or more, so that one slow sync does not delay all other companies.
 */
export function allowedStragglers(companiesInRamp: number): number {
  return companiesInRamp < 2 ? 0 : Math.max(1, Math.floor(companiesInRamp / 10));
}

const MIN_POLL_DELAY_MS = 250;
const MAX_POLL_DELAY_MS = 5 * MINUTE_MS;

/**
 * Returns the delay before the next poll of a syncing company: a quarter of the time that it has been syncing, but at
 * least 250 ms and at most 5 minutes.
 *
 * @returns milliseconds
 */
export function pollDelayMs(syncingForMs: number): number {
  return Math.min(MAX_POLL_DELAY_MS, Math.max(MIN_POLL_DELAY_MS, syncingForMs / 4));
}

/** Returns the number of polls until a sync of this length is found to have ended. */
export function pollsDuring(syncMs: number): number {
  let polls = 1;
  for (let atMs = pollDelayMs(0); atMs < syncMs; atMs += pollDelayMs(atMs)) polls += 1;
  return polls;
}
