import { InvalidArgumentError } from 'commander';
import { DateTime } from 'luxon';
import { localTimeProblem } from '../../domain/planning/local-time';
import { withMoments } from '../../domain/text/sentences';

/**
 * Formats a time in the reader's time zone, with its offset, because reader and writer can be in different time zones:
 * `Sat 21 Nov 2026, 14:05 UTC+01:00`.
 *
 * @param moment ISO 8601, or a date
 * @param zone IANA name (default: the reader's time zone)
 * @param clock how the time of day is written, in luxon's format
 */
export function localTime(moment: string | Date, zone = 'local', clock = 'HH:mm'): string {
  const options = { zone, locale: 'en' };
  const time = typeof moment === 'string' ? DateTime.fromISO(moment, options) : DateTime.fromJSDate(moment, options);
  return time.toFormat(`ccc d LLL yyyy, ${clock} 'UTC'${time.offset === 0 ? '' : 'ZZ'}`);
}

/**
 * Formats the times in a text of the workflow, such as `2026-11-20 23:55 UTC`, in the reader's time zone. Keeps a time
 * at which this zone has no offset from UTC.
 *
 * @param zone IANA name (default: the reader's time zone)
 */
export function inLocalTime(text: string, zone = 'local'): string {
  return withMoments(text, (at, written) =>
    DateTime.fromISO(at, { zone }).offset === 0 ? written : localTime(at, zone),
  );
}

/** Formats two times like {@link localTime}, with seconds or milliseconds if they would look equal without them. */
export function distinctTimes(one: string, other: string): readonly [string, string] {
  const texts = (clock?: string) => [localTime(one, 'local', clock), localTime(other, 'local', clock)] as const;
  const candidates = [texts(), texts('HH:mm:ss')];
  return candidates.find(([first, second]) => first !== second) ?? texts('HH:mm:ss.SSS');
}

/** Returns tomorrow evening as a person types it: `2026-11-21 22:00`, in the reader's time zone. */
export function exampleTime(now: Date): string {
  return typedTime(tomorrowEvening(now));
}

/** Formats a time as a person types it: `2026-11-21 22:00`, in the reader's time zone. */
export function typedTime(time: Date): string {
  const [month, day, hour, minute] = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()].map(
    (part) => String(part).padStart(2, '0'),
  );
  return `${time.getFullYear()}-${month}-${day} ${hour}:${minute}`;
}

/**
 * Returns 22:00 of the next day in the reader's time zone. Does not use luxon, because every run of `ferry` formats an
 * example for its help, and loading luxon takes time.
 */
function tomorrowEvening(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 22);
}

/** Formats the time of day in the reader's time zone: `22:04:11`. */
export function clockTime(moment: Date): string {
  return DateTime.fromJSDate(moment).toFormat('HH:mm:ss');
}

/**
 * Formats a time in at most nine columns, more precisely if it is near: `22:31`, `Sun 04:10`, `28 Nov` or `Mar 2030`.
 *
 * @param moment ISO 8601
 */
export function shortTime(moment: string, now: Date): string {
  const time = DateTime.fromISO(moment, { locale: 'en' });
  const days = Math.abs(time.diff(DateTime.fromJSDate(now), 'days').days);
  if (time.hasSame(DateTime.fromJSDate(now), 'day')) return time.toFormat('HH:mm');
  if (days < 6) return time.toFormat('ccc HH:mm');
  return time.toFormat(days < 300 ? 'd LLL' : 'LLL yyyy');
}

/** Formats a duration in at most three columns if it is shorter than 100 days: `45s`, `12m`, `5h`, `3d`. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** The years that ISO 8601 writes with four digits and Postgres can store. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59Z');

/**
 * Parses a time that a person typed as an option or argument: `now`, ISO 8601, or `2026-11-21 22:00` in the local time
 * zone.
 *
 * @throws InvalidArgumentError, to which commander adds the name of the option or argument
 */
export function parseTime(text: string): Date {
  if (text === 'now') return new Date();
  const written = text.trim().replace(' ', 'T');
  const iso = DateTime.fromISO(written);
  if (iso.isValid && iso.toMillis() >= EARLIEST && iso.toMillis() <= LATEST) {
    assertOneTime(written);
    return iso.toJSDate();
  }
  if (/^\d{4}-\d{2}-\d{2}/.test(text.trim()) && iso.invalidReason === 'unit out of range') {
    throw new InvalidArgumentError('There is no such day or time.');
  }
  const offset = withOffset(text.trim());
  if (offset !== null) throw new InvalidArgumentError(`Write the time zone as an offset: ${offset}.`);
  const now = new Date();
  const utc = tomorrowEvening(now).toISOString().replace('.000', '');
  throw new InvalidArgumentError(`Write it like "${exampleTime(now)}" or ${utc}, or use the word "now".`);
}

/** Returns the time with an offset if the text is a time with the name of a time zone; null otherwise. */
function withOffset(text: string): string | null {
  const [, written = '', zone = ''] = /^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d) +([a-z]\S*)$/i.exec(text) ?? [];
  const time = DateTime.fromISO(written.replace(' ', 'T'), { zone });
  return zone !== '' && time.isValid ? time.toISO({ suppressSeconds: true, suppressMilliseconds: true }) : null;
}

/**
 * Checks that a time without an offset exists in the local time zone, and only once.
 *
 * @throws InvalidArgumentError
 */
function assertOneTime(iso: string): void {
  const { zone } = DateTime.fromISO(iso, { setZone: true });
  if (iso.endsWith(']') || !zone.equals(DateTime.local().zone)) return;
  const problem = localTimeProblem(zone.name, DateTime.fromISO(iso, { zone: 'utc' }).toMillis());
  if (problem === null) return;
  const instead =
    problem.exact.length > 0
      ? `Write ${problem.exact.join(' or ')}.`
      : `The nearest times are ${problem.nearest.join(' and ')}.`;
  throw new InvalidArgumentError(`${problem.why}. ${instead}`);
}
