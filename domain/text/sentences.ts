/** Formats numbers, times and text for people to read. */
import { withoutUnsafeCharacters } from './untrusted-text';

/** Formats a number as `1,203`. */
export function numberText(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats a count with its noun: `1 line`, `2 lines`, `1,203 companies`. */
export function counted(count: number, noun: string): string {
  const plural = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${numberText(count)} ${count === 1 ? noun : plural}`;
}

/** Formats a part of a total: `1,284 of 2,000 companies`. */
export function outOf(count: number, total: number, noun: string): string {
  return `${numberText(count)} of ${counted(total, noun)}`;
}

const MAX_REFERENCE_LENGTH = 40;

/** Formats a number of companies with the first references: `4 companies (C-1, C-2, C-3 and 1 more)`. */
export function namedCompanies(companies: number, references: readonly string[], noun = 'company'): string {
  const text = counted(companies, noun);
  if (references.length === 0) return text;
  const more = companies - references.length;
  const names = references.map((reference) => oneLine(reference, MAX_REFERENCE_LENGTH)).join(', ');
  return `${text} (${names}${more > 0 ? ` and ${numberText(more)} more` : ''})`;
}

/** Joins alternatives: `a, b, or c`. */
export const eitherOf = (words: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(words);

/** Joins parts: `a, b, and c`. */
export const allOf = (words: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(words);

/** Formats a number of hours as `6 minutes` or `6.3 hours`, rounded up, so that a maximum is never understated. */
export function hoursText(hours: number): string {
  // The rounding to milliseconds removes the errors of binary fractions: 31 / 60 * 60 is more than 31.
  const ms = Math.round(hours * 3_600_000);
  return ms < 3_600_000 ? counted(Math.ceil(ms / MINUTE_MS), 'minute') : counted(Math.ceil(ms / 360_000) / 10, 'hour');
}

const MINUTE_MS = 60_000;

/**
 * Rounds a time up to a full minute. Every expected end is rounded with this function, so that all views show the same
 * minute.
 *
 * @param iso ISO 8601, UTC
 */
export function toFullMinute(iso: string): string {
  return new Date(Math.ceil(Date.parse(iso) / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** Puts untrusted text on one line and shortens it, so that it cannot break the layout around it. */
export function oneLine(text: string, maxLength: number): string {
  const line = withoutUnsafeCharacters(text).replace(/\s+/g, ' ');
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}...`;
}

/**
 * Formats a time as `2026-11-20 23:55 UTC`. The time zone is always UTC, because readers are in many time zones and
 * workflow code must not depend on a local one.
 *
 * @param iso ISO 8601, UTC
 */
export function momentText(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * Replaces each time that {@link momentText} has written in a text.
 *
 * @param format receives a time as ISO 8601, UTC, and as it is written in the text
 */
export function withMoments(text: string, format: (iso: string, written: string) => string): string {
  return text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, (written: string, day: string, clock: string) =>
    format(`${day}T${clock}:00.000Z`, written),
  );
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats the UTC date of a time as `22 Nov`. */
export function dayText(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1] ?? ''}`;
}

/**
 * Formats a time for the handover report as `22 Nov 23:14`, or as `22 Nov 2026 23:14`. The head of the report says once
 * that its times are in UTC.
 *
 * @param iso ISO 8601, UTC
 * @param year the year that the head of the report already shows. Times of this year are formatted without it. By
 *   default, every year is shown
 */
export function timeText(iso: string, year?: string): string {
  const ownYear = iso.slice(0, 4);
  return [dayText(iso), ...(ownYear === year ? [] : [ownYear]), iso.slice(11, 16)].join(' ');
}

/** Returns when something ends, from two formatted times; if they are the same, names only one. */
export function spanText(earliest: string, latest: string): string {
  return earliest === latest ? `about ${latest}` : `between ${earliest} and ${latest}`;
}

/** Joins the formatted ends of a range: `2 min to 5 min`; if they are the same, names only one. */
export function rangeText(low: string, high: string): string {
  return low === high ? `about ${low}` : `${low} to ${high}`;
}

/** Formats a duration as `45 s`, `12 min` or `3.5 h`, rounded for people to read. */
export function duration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}

/**
 * Formats a duration whose beginning is known only to within a few seconds: `about 2 min`. Rounds to full minutes, and
 * from 90 minutes on to tenths of an hour.
 */
export function roughDuration(ms: number): string {
  return ms < 30_000 ? 'less than a minute' : `about ${ms < 90_000 ? '1 min' : duration(ms)}`;
}

/** The time zone is required, because a time without one would depend on the reader's time zone. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Returns whether an untrusted value is an ISO 8601 time with a time zone. */
export function isMoment(value: unknown): value is string {
  return typeof value === 'string' && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** Begins a clause with a capital letter. */
export function sentence(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}`;
}
