import type { IncomingHttpHeaders } from 'node:http';

/**
 * How long an answer asks to wait, in milliseconds: `Retry-After` as seconds or as a date (RFC 9110, 10.2.3).
 *
 * A date is read against the answer's own `Date`, so that it does not matter whether this machine's clock is right.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sentAt = Date.parse(headers.date ?? '');
  return Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt));
}
