/** Windows: the hours in which moves may begin. Each window has its own time zone. */
import { isMoment } from '../text/sentences';
import { fieldsOf } from '../text/untrusted-text';
import { clockFormat, instantOf, localTime } from './local-time';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** Recurring hours on certain days of the week. If the end is not after the start, the window ends on the next day. */
export interface Window {
  /** The days on which the window opens. */
  readonly days: readonly Weekday[];
  /** `HH:MM`, local time in the time zone. */
  readonly from: string;
  readonly to: string;
  /** IANA name, e.g. `Europe/London`. */
  readonly timeZone: string;
}

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Checks an untrusted value, including whether its time zone exists. */
export function isWindow(value: unknown): value is Window {
  const { days, from, to, timeZone } = fieldsOf(value);
  return (
    Array.isArray(days) &&
    days.length > 0 &&
    days.length <= WEEKDAYS.length &&
    days.every((day) => WEEKDAYS.some((known) => known === day)) &&
    isClock(from) &&
    isClock(to) &&
    typeof timeZone === 'string' &&
    isTimeZone(timeZone)
  );
}

/** Returns whether the time zone exists. Rejects offsets such as `+01:00`, which not every engine supports. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    clockFormat(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isClock(value: unknown): boolean {
  return typeof value === 'string' && CLOCK.test(value);
}

/** One period in which moves can begin: from `opensAt` until just before `closesAt`. ISO 8601, UTC. */
export interface WindowOccurrence {
  readonly opensAt: string;
  readonly closesAt: string;
}

/** The state of the Schedule that opens the windows. `none` if there is no Schedule. */
export type ScheduleState = 'none' | 'running' | 'paused';

/** The result of an attempt to open a window. `text` is for people. */
export interface WindowOpening {
  readonly opened: boolean;
  readonly text: string;
}

/** Says why no window can be opened if the migration has no Schedule any more. */
export const NO_WINDOWS =
  'the migration has no windows any more, because it has ended or because moves can begin at any time';

/** Parses an untrusted window occurrence, and drops its other fields. Returns null if the value is not one. */
export function parseWindowOccurrence(value: unknown): WindowOccurrence | null {
  const { opensAt, closesAt } = fieldsOf(value);
  return isMoment(opensAt) && isMoment(closesAt) ? { opensAt, closesAt } : null;
}

const DAY_MS = 24 * 60 * 60_000;
/**
 * How many days {@link windowOccurrences} looks back and ahead: two weeks, and a day as a margin. A window opens and
 * closes at least once a week, but a clock change can remove a week's only occurrence, or the only gap between two
 * occurrences, so one week is not enough.
 */
const DAYS = 15;

/**
 * Returns, in order, the current occurrence and the occurrences that open within about two weeks. Merges occurrences
 * that touch or overlap.
 *
 * When clocks go forward, a window that would start or end at a skipped time starts or ends at the change. When clocks
 * go back, a time that occurs twice means its first occurrence.
 *
 * @param at the time to start from. ISO 8601, UTC
 * @throws RangeError if a time zone does not exist
 */
export function windowOccurrences(windows: readonly Window[], at: string): readonly WindowOccurrence[] {
  const atMs = Date.parse(at);
  const occurrences = windows.flatMap((window) => occurrencesOf(window, atMs)).sort((one, other) => one[0] - other[0]);
  const merged: [number, number][] = [];
  for (const [opens, closes] of occurrences) {
    const last = merged.at(-1);
    if (last && opens <= last[1]) last[1] = Math.max(last[1], closes);
    else merged.push([opens, closes]);
  }
  return merged
    .filter(([, closes]) => closes > atMs)
    .map(([opens, closes]) => ({
      opensAt: opens <= atMs && isEndless(opens, closes) ? ALWAYS_OPEN_SINCE : new Date(opens).toISOString(),
      closesAt: new Date(closes).toISOString(),
    }));
}

/**
 * The `opensAt` of an occurrence that never closes. It is fixed, because `opensAt` identifies an occurrence, so it must
 * not depend on the time from which the occurrences are calculated. Temporal's Schedules accept no year before 2000.
 */
const ALWAYS_OPEN_SINCE = '2020-01-01T00:00:00.000Z';

const WEEK_MS = 7 * DAY_MS;
/** The length of the longest occurrence that closes, with a margin. Milliseconds. */
export const LONGEST_OCCURRENCE_MS = 2 * WEEK_MS;

/**
 * Returns whether the windows of one time zone cover the whole week, so that moves can begin at any time. Their
 * occurrence then never closes: it ends only because {@link windowOccurrences} looks no further ahead.
 */
export function isAlwaysOpen(windows: readonly Window[]): boolean {
  return windows.some(({ timeZone }) => coversWeek(windows.filter((window) => window.timeZone === timeZone)));
}

/**
 * Returns whether an occurrence is longer than {@link LONGEST_OCCURRENCE_MS}. If all windows have the same time zone,
 * such an occurrence ends only because {@link windowOccurrences} looks no further ahead, because a gap would recur
 * every week. With several time zones, it can still close: around clock changes, a gap can exist for a few weeks of a
 * year.
 */
export function neverCloses({ opensAt, closesAt }: WindowOccurrence): boolean {
  return isEndless(Date.parse(opensAt), Date.parse(closesAt));
}

const isEndless = (opens: number, closes: number): boolean => closes - opens > LONGEST_OCCURRENCE_MS;

function coversWeek(windows: readonly Window[]): boolean {
  const periods = windows.flatMap(({ days, from, to }) =>
    days.flatMap((day) => {
      const opens = WEEKDAYS.indexOf(day) * DAY_MS + clockMs(from);
      const closes = WEEKDAYS.indexOf(day) * DAY_MS + (to <= from ? DAY_MS : 0) + clockMs(to);
      // A window that opens on Sunday can last until Monday of the next week.
      return [
        { opens, closes },
        { opens: opens - WEEK_MS, closes: closes - WEEK_MS },
      ];
    }),
  );
  let coveredUntil = 0;
  for (const { opens, closes } of periods.sort((one, other) => one.opens - other.opens)) {
    if (opens <= coveredUntil) coveredUntil = Math.max(coveredUntil, closes);
  }
  return coveredUntil >= WEEK_MS;
}

/**
 * Returns when the next move can begin: `from` if a window is open then, or if there are no windows; otherwise the next
 * opening of a window. Null if no window opens in the next two weeks.
 *
 * @param from ISO 8601, UTC
 */
export function nextMove(windows: readonly Window[], from: string): string | null {
  if (windows.length === 0) return from;
  const [next] = windowOccurrences(windows, from);
  if (!next) return null;
  return Date.parse(next.opensAt) > Date.parse(from) ? next.opensAt : from;
}

const YEAR_MS = 365 * DAY_MS;

/**
 * Returns when work of this length ends if it is done only inside the windows. If there are no windows, it is done at
 * any time.
 *
 * @param from the start of the work. ISO 8601, UTC
 * @returns ISO 8601, UTC; null if there are windows and the work in them takes more than a year
 */
export function endWithin(windows: readonly Window[], from: string, workMs: number): string | null {
  if (windows.length === 0) return new Date(Date.parse(from) + workMs).toISOString();
  const until = Date.parse(from) + YEAR_MS;
  let leftMs = workMs;
  for (let at = Date.parse(from); at < until;) {
    const occurrences = windowOccurrences(windows, new Date(at).toISOString());
    if (occurrences.length === 0) return null;
    for (const { opensAt, closesAt } of occurrences) {
      const begins = Math.max(at, Date.parse(opensAt));
      at = Date.parse(closesAt);
      if (leftMs <= at - begins) return new Date(begins + leftMs).toISOString();
      leftMs -= at - begins;
    }
  }
  return null;
}

function occurrencesOf({ days, from, to, timeZone }: Window, atMs: number): [number, number][] {
  const occurrences: [number, number][] = [];
  const today = localTime(timeZone, atMs);
  // Looks back too, because the current occurrence, merged from windows of several days, can have opened days ago.
  for (let day = -DAYS; day <= DAYS; day += 1) {
    const date = Math.floor(today / DAY_MS) * DAY_MS + day * DAY_MS;
    if (!days.includes(weekdayOf(date))) continue;
    const endsNextDay = to <= from;
    const opens = instantOf(timeZone, date + clockMs(from));
    const closes = instantOf(timeZone, date + (endsNextDay ? DAY_MS : 0) + clockMs(to));
    if (closes > opens) occurrences.push([opens, closes]);
  }
  return occurrences;
}

function weekdayOf(dateMs: number): Weekday {
  // 1970-01-01 was a Thursday.
  return WEEKDAYS[(((dateMs / DAY_MS + 3) % 7) + 7) % 7] ?? 'mon';
}

function clockMs(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number);
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * 60_000;
}
