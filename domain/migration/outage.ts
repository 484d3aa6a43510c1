/** An outage: no call gets through to the service or the platform, so companies wait instead of failing one by one. */
import type { OutageSource } from '../companies/failures';
import { isMoment, momentText } from '../text/sentences';
import { fieldsOf } from '../text/untrusted-text';

/** Times are ISO 8601, UTC. */
export interface Outage {
  /** The last error, as it was received. */
  readonly why: string;
  readonly since: string;
  /** When the next call will be tried. */
  readonly until: string;
  /** Absent if neither the service nor the platform has failed, for example while the ledger is being reconciled. */
  readonly source?: OutageSource;
}

/** Maximum length of `why`, in characters. The errors that `company-data-client` reports are far shorter. */
const MAX_WHY_LENGTH = 20_000;

/** Parses an untrusted outage. Drops all other fields. Returns null if the value is not an outage. */
export function parseOutage(value: unknown): Outage | null {
  const { why, since, until, source } = fieldsOf(value);
  if (typeof why !== 'string' || why.length > MAX_WHY_LENGTH || !isMoment(since) || !isMoment(until)) return null;
  return { why, since, until, ...(isSource(source) && { source }) };
}

function isSource(value: unknown): value is OutageSource {
  return value === 'service' || value === 'platform';
}

/**
 * Says since when and why a migration waits, and when it tries again.
 *
 * @param now the time of the next attempt is left out if it is not later than this. ISO 8601, UTC. Default: the start
 *   of the outage
 */
export function onHoldText({ why, since, until }: Outage, now = since): string {
  const at = until > now ? ` at ${momentText(until)}` : '';
  // The cause comes last, because it can end with a command to run.
  return `on hold since ${momentText(since)}; retries automatically${at}; cause: ${why}`;
}

/** Returns for clients the summary of a timer that waits out an outage. Omits the error, which `ferry show` prints. */
export function outageSummary(outage: Outage): string {
  const why = outage.source === undefined ? 'on hold for a technical reason' : reasonText(outage);
  return `Next attempt at ${momentText(outage.until)}: ${why}`;
}

/** Describes an outage for clients, with the time of the next attempt. */
export function outageText(outage: Outage): string {
  return `${reasonText(outage)}; next attempt at ${momentText(outage.until)}`;
}

function reasonText({ source }: Outage): string {
  return source === undefined ? 'for a technical reason' : `no call is getting through to the ${source}`;
}
