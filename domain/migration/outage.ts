/** A standstill: nothing gets through to the service or its platform, so that company after company is not tried in vain. */
import { moment } from '../text/moments';

/** Why companies wait, since when, and when it is tried again. Times are ISO 8601, UTC. */
export interface Outage {
  /** What came back last, in the words of whoever answered. */
  readonly why: string;
  readonly since: string;
  readonly until: string;
}

/** Whether a value is a standstill. */
export function isOutage(value: unknown): value is Outage {
  if (typeof value !== 'object' || value === null) return false;
  const { why, since, until } = value as Record<string, unknown>;
  return [why, since, until].every((each) => typeof each === 'string');
}

/** Temporal takes 200 bytes for the summary of a timer. */
const SUMMARY_LENGTH = 160;

/** For the timer of the wait, in characters of one byte each: others chose some of the words. */
export function outageSummary({ why, until }: Outage): string {
  return `Until ${moment(until)}: ${why}`.replace(/[^\x20-\x7e]/g, '?').slice(0, SUMMARY_LENGTH);
}
