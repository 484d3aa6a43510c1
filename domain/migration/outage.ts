/** An outage: no call gets through to the service or the platform, so companies wait instead of failing one by one. */
import { isMoment, momentText } from '../text/sentences';

/** Times are ISO 8601, UTC. */
export interface Outage {
  /** The last error, as it was received. */
  readonly why: string;
  readonly since: string;
  /** When the next call will be tried. */
  readonly until: string;
}

/** In characters. The errors that `company-data-client` reports are far shorter. */
const MAX_WHY_LENGTH = 20_000;

/** Returns a copy of an untrusted value, without any other fields; null if it is not an outage. */
export function parseOutage(value: unknown): Outage | null {
  if (typeof value !== 'object' || value === null) return null;
  const { why, since, until } = value as Record<string, unknown>;
  if (typeof why !== 'string' || why.length > MAX_WHY_LENGTH || !isMoment(since) || !isMoment(until)) return null;
  return { why, since, until };
}

/** Below the 200 bytes that Temporal accepts as the summary of a timer. */
const MAX_SUMMARY_LENGTH = 160;

/** Returns the summary of the timer that waits out an outage. Only ASCII, so that each character takes one byte. */
export function outageSummary({ why, until }: Outage): string {
  return `Until ${momentText(until)}: ${why}`.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_SUMMARY_LENGTH);
}
