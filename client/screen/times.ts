import { DateTime } from 'luxon';
import { CommandFailed } from '../command-failed';

/**
 * A moment as its reader's clock shows it, with the zone, because reader and writer may be in different ones:
 * `Sat 21 Nov 2026, 14:05 UTC+01:00`.
 *
 * @param moment ISO 8601, or a date
 * @param zone IANA name; the reader's own where it is not said
 */
export function localTime(moment: string | Date, zone = 'local'): string {
  const time = typeof moment === 'string' ? DateTime.fromISO(moment, { zone }) : DateTime.fromJSDate(moment, { zone });
  return time.setLocale('en').toFormat(`ccc d LLL yyyy, HH:mm 'UTC'${time.offset === 0 ? '' : 'ZZ'}`);
}

/**
 * A time as a person types it: `now`, ISO 8601, or `2026-11-21 22:00` in the reader's own zone.
 *
 * @throws CommandFailed
 */
export function readTime(text: string): Date {
  if (text === 'now') return new Date();
  const iso = DateTime.fromISO(text.trim().replace(' ', 'T'));
  if (iso.isValid) return iso.toJSDate();
  throw new CommandFailed(`${text} is no time`, 'write "2026-11-21 22:00", 2026-11-21T21:00:00Z, or now');
}
