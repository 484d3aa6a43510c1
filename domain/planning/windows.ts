/** Windows: the hours in which companies may be started, in the client's time zone. */

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** Hours of some days of the week. One that ends at or before its beginning ends on the next day. */
export interface Window {
  /** The days on which it opens. */
  readonly days: readonly Weekday[];
  /** `HH:MM`, of a clock on the wall of that time zone. */
  readonly from: string;
  readonly to: string;
  /** IANA, as `Europe/London`. */
  readonly timeZone: string;
}

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Whether a value is a window, of a time zone that exists. */
export function isWindow(value: unknown): value is Window {
  if (typeof value !== 'object' || value === null) return false;
  const { days, from, to, timeZone } = value as Record<string, unknown>;
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

/** Nothing can be computed with another one: whoever tried would try for ever. Offsets are names in some engines alone. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    clockOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isClock(value: unknown): boolean {
  return typeof value === 'string' && CLOCK.test(value);
}

/** One time at which companies may be started. Instants, ISO 8601, UTC; the end is not part of it. */
export interface WindowOccurrence {
  readonly opensAt: string;
  readonly closesAt: string;
}

/** What becomes of openings: nothing has to open, each opens by itself, or somebody has paused them. */
export type ScheduleState = 'none' | 'running' | 'paused';

/** What came of it when a window was to be opened, for people. */
export interface WindowStart {
  readonly opened: boolean;
  readonly text: string;
}

/** Whether a value is an opening. */
export function isWindowOccurrence(value: unknown): value is WindowOccurrence {
  if (typeof value !== 'object' || value === null) return false;
  const { opensAt, closesAt } = value as Record<string, unknown>;
  return typeof opensAt === 'string' && typeof closesAt === 'string';
}

const DAY_MS = 24 * 60 * 60_000;
/** A window opens at least once a week; a week more covers those that are cut by a change of the clock. */
const LOOK_AHEAD_DAYS = 15;

/**
 * The openings that are not over yet, in order, those that touch or overlap as one.
 *
 * A wall clock that is put forward leaves times out: a window that begins or ends at one of them does so when the clock
 * jumps. One that is put back shows times twice: the first is meant.
 *
 * @param at ISO 8601, UTC
 * @throws RangeError when a time zone does not exist
 */
export function windowOccurrences(windows: readonly Window[], at: string): readonly WindowOccurrence[] {
  const atMs = Date.parse(at);
  const openings = windows.flatMap((window) => occurrencesOf(window, atMs)).sort((one, other) => one[0] - other[0]);
  const merged: [number, number][] = [];
  for (const [opens, closes] of openings) {
    const last = merged.at(-1);
    if (last && opens <= last[1]) last[1] = Math.max(last[1], closes);
    else merged.push([opens, closes]);
  }
  return merged
    .filter(([, closes]) => closes > atMs)
    .map(([opens, closes]) => ({ opensAt: new Date(opens).toISOString(), closesAt: new Date(closes).toISOString() }));
}

const YEAR_MS = 365 * DAY_MS;

/**
 * When work is done that takes so long and goes on in the windows alone; without windows, at any hour.
 *
 * @param from ISO 8601, UTC
 * @returns ISO 8601, UTC; null: not within a year
 */
export function endWithin(windows: readonly Window[], from: string, workMs: number): string | null {
  if (windows.length === 0) return new Date(Date.parse(from) + workMs).toISOString();
  const until = Date.parse(from) + YEAR_MS;
  let leftMs = workMs;
  for (let at = Date.parse(from); at < until;) {
    const openings = windowOccurrences(windows, new Date(at).toISOString());
    if (openings.length === 0) return null;
    for (const { opensAt, closesAt } of openings) {
      const begins = Math.max(at, Date.parse(opensAt));
      at = Date.parse(closesAt);
      if (leftMs <= at - begins) return new Date(begins + leftMs).toISOString();
      leftMs -= at - begins;
    }
  }
  return null;
}

function occurrencesOf({ days, from, to, timeZone }: Window, atMs: number): [number, number][] {
  const openings: [number, number][] = [];
  const today = wallClock(timeZone, atMs);
  // Yesterday's may still be open.
  for (let day = -1; day <= LOOK_AHEAD_DAYS; day += 1) {
    const date = Math.floor(today / DAY_MS) * DAY_MS + day * DAY_MS;
    if (!days.includes(weekdayOf(date))) continue;
    const endsNextDay = to <= from;
    const opens = instantOf(timeZone, date + clockMs(from));
    const closes = instantOf(timeZone, date + (endsNextDay ? DAY_MS : 0) + clockMs(to));
    if (closes > opens) openings.push([opens, closes]);
  }
  return openings;
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(dateMs: number): Weekday {
  return WEEKDAYS[(((dateMs / DAY_MS + 3) % 7) + 7) % 7] ?? 'mon';
}

function clockMs(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number);
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * 60_000;
}

/** What the clock on the wall shows at an instant, as if it showed UTC. Milliseconds. */
function wallClock(timeZone: string, instantMs: number): number {
  const parts = clockOf(timeZone).formatToParts(instantMs);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

const CLOCKS = new Map<string, Intl.DateTimeFormat>();

/** Making one takes longer than reading it many times. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = CLOCKS.get(timeZone);
  if (known) return known;
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, ...date, ...time });
  CLOCKS.set(timeZone, clock);
  return clock;
}

/** The first instant at which the clock on the wall shows at least this. */
function instantOf(timeZone: string, wallMs: number): number {
  // No zone is further than a day from UTC, and clocks are changed by hours: the first instant lies between these.
  let before = wallMs - DAY_MS;
  let after = wallMs + DAY_MS;
  const MINUTE_MS = 60_000;
  const candidates = offsetsBetween(timeZone, before, after).map((offset) => wallMs - offset);
  const shown = candidates.filter((instant) => wallClock(timeZone, instant) === wallMs);
  if (shown.length > 0) return Math.min(...shown);
  // The clock jumps over it: the jump is found by halving.
  while (after - before > MINUTE_MS) {
    const middle = Math.floor((before + after) / 2 / MINUTE_MS) * MINUTE_MS;
    if (wallClock(timeZone, middle) >= wallMs) after = middle;
    else before = middle;
  }
  return after;
}

/** How far the wall clock is from UTC, before and after whatever changes between two instants. */
function offsetsBetween(timeZone: string, fromMs: number, toMs: number): readonly number[] {
  return [...new Set([fromMs, toMs].map((instant) => wallClock(timeZone, instant) - instant))];
}
