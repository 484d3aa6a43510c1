/**
 * Reads the waits that a response announces: `Retry-After`, and the reset of the rate limit.
 *
 * Headers also come from proxies, which can have a wrong clock or use another unit. No header text makes the exported
 * functions throw or return a wait of more than `LONGEST_WAIT_MS`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { LONGEST_RETRY_AFTER_MS, LONGEST_WAIT_MS } from '../domain/companies/call-failure';
import { redactErrorText } from '../security/redaction';

const MAX_SHOWN_LENGTH = 100;

/** The state of the rate limit according to one response, for all users of the key together. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch milliseconds by our clock. */
  readonly resetAt: number;
}

/** A header that announces a wait of more than `LONGEST_WAIT_MS`. */
export interface ImplausibleWait {
  readonly header: 'Retry-After' | 'X-Rate-Limit-Reset';
  /** The text of the header, shortened and redacted. */
  readonly value: string;
}

/**
 * Returns the wait that `Retry-After` asks for. The header contains seconds or a date (RFC 9110, 10.2.3). A date is
 * compared with the response's own `Date`, so the result does not depend on our clock.
 *
 * @param now epoch milliseconds; used if the `Date` header is missing or invalid
 * @returns milliseconds, at most `LONGEST_RETRY_AFTER_MS`; undefined if the header is missing, cannot be parsed, or
 * asks for more than `LONGEST_WAIT_MS`
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const waitMs = announcedRetryAfterMs(headers, now);
  if (waitMs === undefined || waitMs > LONGEST_WAIT_MS) return undefined;
  return Math.min(waitMs, LONGEST_RETRY_AFTER_MS);
}

/**
 * Reads the rate limit.
 *
 * @param aheadMs how far the service's clock is ahead of ours, in milliseconds
 * @returns undefined if a header is missing or cannot be parsed, the limit is 0, or the reset is more than
 * `LONGEST_WAIT_MS` ahead
 */
export function readAllowance(headers: IncomingHttpHeaders, aheadMs: number, now: number): Allowance | undefined {
  const limit = wholeNumber(headers, 'x-rate-limit-limit');
  const remaining = wholeNumber(headers, 'x-rate-limit-remaining');
  const resetAt = Date.parse(headerText(headers, 'x-rate-limit-reset') ?? '') - aheadMs;
  if (!limit || remaining === undefined || Number.isNaN(resetAt) || resetAt - now > LONGEST_WAIT_MS) return undefined;
  return { limit, remaining: Math.min(remaining, limit), resetAt };
}

/**
 * Returns the headers that `retryAfterMs` and `readAllowance` ignore because their waits are too long, so that a
 * warning can be logged.
 */
export function implausibleWaits(headers: IncomingHttpHeaders, now: number): readonly ImplausibleWait[] {
  const resetMs = Date.parse(headerText(headers, 'x-rate-limit-reset') ?? '') - sentAt(headers, now);
  const found: ImplausibleWait[] = [];
  if ((announcedRetryAfterMs(headers, now) ?? 0) > LONGEST_WAIT_MS) {
    found.push({ header: 'Retry-After', value: shown(headers, 'retry-after') });
  }
  if (resetMs > LONGEST_WAIT_MS) {
    found.push({ header: 'X-Rate-Limit-Reset', value: shown(headers, 'x-rate-limit-reset') });
  }
  return found;
}

/** Returns the wait as announced, which can be Infinity. */
function announcedRetryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const value = headerText(headers, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - sentAt(headers, now));
}

function sentAt(headers: IncomingHttpHeaders, now: number): number {
  const date = Date.parse(headerText(headers, 'date') ?? '');
  return Number.isNaN(date) ? now : date;
}

function wholeNumber(headers: IncomingHttpHeaders, name: string): number | undefined {
  const text = headerText(headers, name) ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Returns the first value of a header. undici returns a list if a response contains the header several times. */
function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function shown(headers: IncomingHttpHeaders, name: string): string {
  return redactErrorText(headerText(headers, name) ?? '').slice(0, MAX_SHOWN_LENGTH);
}
