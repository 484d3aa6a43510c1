/** Formats times in the reader's time zone. The page names this zone in the text, above the list or in its footer. */
import { withMoments } from '../../../domain/text/sentences';

const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const FULL = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
});
const SHORT = new Intl.DateTimeFormat(undefined, {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
});
const DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'numeric', day: 'numeric' });
const SECONDS = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });

/** Replaces the hyphen in `GMT-5` with a minus sign, because a browser can break a line after a hyphen. */
const unbroken = (text: string): string => text.replace(/(GMT|UTC)-(?=\d)/g, '$1\u2212');

/** Formats a time with its zone: `Sat, 14 Nov 2026, 20:00 GMT`. @param iso ISO 8601, UTC */
export const timeText = (iso: string): string => unbroken(FULL.format(new Date(iso)));

/** Shows the times in a text of the portal, which have the form `2026-11-20 23:55 UTC`, in the reader's zone. */
export const inReadersZone = (text: string): string => withMoments(text, timeText);

/** Formats a time without its zone, for the lists of companies. */
export const shortTime = (iso: string): string => SHORT.format(new Date(iso));

/** Formats a time with seconds, without its day and its zone: `20:00:05`. */
export const clockTime = (at: Date): string => SECONDS.format(at);

/**
 * Formats the period between two times. Names the day once if both times are on the same day. Returns `about` and the
 * time if both times are in the same minute.
 */
export function spanText(from: string, to: string): string {
  const [start, end] = [new Date(from), new Date(to)];
  const isSameDay = DAY.format(start) === DAY.format(end);
  if (timeText(from) === timeText(to)) return `about ${timeText(from)}`;
  return `between ${timeText(from)} and ${isSameDay ? unbroken(CLOCK.format(end)) : timeText(to)}`;
}

/** Returns the reader's zone, with its short name or offset at a time: `Europe/London (GMT)`. */
export function zoneText(at = new Date()): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(at);
  const short = parts.find(({ type }) => type === 'timeZoneName')?.value;
  return short === undefined || short === zone() ? zone() : unbroken(`${zone()} (${short})`);
}

/** Says how far away a time is: `in 3 days`, `2 hours ago`. */
export function distanceText(iso: string, now = Date.now()): string {
  const minutes = Math.round((Date.parse(iso) - now) / 60_000);
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  if (Math.abs(minutes) < 90) return format.format(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return Math.abs(hours) < 36 ? format.format(hours, 'hour') : format.format(Math.round(hours / 24), 'day');
}

/** Returns the value of a `datetime-local` input for a time: `2026-11-14T20:00`. */
export function localInput(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
