/** An outage: no call gets through to the service or the platform, so companies wait instead of failing one by one. */
import { momentText } from '../text/sentences';

/** Times are ISO 8601, UTC. */
export interface Outage {
  /** The last error, as it was received. */
  readonly why: string;
  readonly since: string;
  /** When the next call will be tried. */
  readonly until: string;
}

/** Checks an untrusted value. */
export function isOutage(value: unknown): value is Outage {
  if (typeof value !== 'object' || value === null) return false;
  const { why, since, until } = value as Record<string, unknown>;
  return [why, since, until].every((each) => typeof each === 'string');
}

/** Below the 200 bytes that Temporal accepts as the summary of a timer. */
const MAX_SUMMARY_LENGTH = 160;

/** Returns the summary of the timer that waits out an outage. Only ASCII, so that each character takes one byte. */
export function outageSummary({ why, until }: Outage): string {
  return `Until ${momentText(until)}: ${why}`.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_SUMMARY_LENGTH);
}
