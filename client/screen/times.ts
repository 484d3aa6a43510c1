import { DateTime } from 'luxon';

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
