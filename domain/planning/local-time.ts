/**
 * Converts between instants and local times. A local time can be skipped or occur twice, because clocks change. A local
 * time is encoded as if it were UTC, in milliseconds.
 */
const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;

/** Returns the local date and time of an instant, encoded as if they were UTC. Milliseconds. */
export function localTime(timeZone: string, instantMs: number): number {
  const parts = clockFormat(timeZone).formatToParts(instantMs);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

const CLOCKS = new Map<string, Intl.DateTimeFormat>();

/** Returns a cached formatter, because creating a formatter is slow. */
export function clockFormat(timeZone: string): Intl.DateTimeFormat {
  const cached = CLOCKS.get(timeZone);
  if (cached) return cached;
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, ...date, ...time });
  CLOCKS.set(timeZone, clock);
  return clock;
}

/** Returns the first instant at which the local time has reached `localMs`. */
export function instantOf(timeZone: string, localMs: number): number {
  // No zone is more than a day from UTC, and clocks change by a few hours, so the instant is between `before` and
  // `after`.
  let before = localMs - DAY_MS;
  let after = localMs + DAY_MS;
  const [first] = instantsOf(timeZone, localMs);
  if (first !== undefined) return first;
  // A clock change skips this local time. Find the change by bisection.
  while (after - before > MINUTE_MS) {
    const middle = Math.floor((before + after) / 2 / MINUTE_MS) * MINUTE_MS;
    if (localTime(timeZone, middle) >= localMs) after = middle;
    else before = middle;
  }
  return after;
}

/** Returns the instants at which clocks show a local time, in order: none if it is skipped, two if it occurs twice. */
function instantsOf(timeZone: string, localMs: number): readonly number[] {
  return offsetsAt(timeZone, localMs - DAY_MS, localMs + DAY_MS)
    .map((offset) => localMs - offset)
    .filter((instant) => localTime(timeZone, instant) === localMs)
    .sort((one, other) => one - other);
}

/** Why a local time does not name one instant. */
export interface LocalTimeProblem {
  /** Why, as a clause. */
  readonly why: string;
  /** The nearest local times before and after it that name one instant: `2027-03-28 01:59`. */
  readonly nearest: readonly [string, string];
  /** If the local time occurs twice, both times with their offsets: `2027-10-31T02:30+02:00`. Otherwise empty. */
  readonly exact: readonly string[];
}

/** Returns why a local time is skipped or occurs twice; null if it names one instant. */
export function localTimeProblem(timeZone: string, localMs: number): LocalTimeProblem | null {
  const instants = instantsOf(timeZone, localMs);
  if (instants.length === 1) return null;
  const isSkipped = instants.length === 0;
  const what = isSkipped ? 'does not exist' : 'occurs twice';
  return {
    why: `${localText(localMs)} ${what} in ${timeZone}, because clocks go ${isSkipped ? 'forward' : 'back'} then`,
    nearest: [nearest(timeZone, localMs, -MINUTE_MS), nearest(timeZone, localMs, MINUTE_MS)],
    exact: instants.map((instant) => `${localText(localMs).replace(' ', 'T')}${offsetText(localMs - instant)}`),
  };
}

function nearest(timeZone: string, localMs: number, stepMs: number): string {
  let at = Math.floor(localMs / MINUTE_MS) * MINUTE_MS;
  while (instantsOf(timeZone, at).length !== 1) at += stepMs;
  return localText(at);
}

const localText = (localMs: number): string => new Date(localMs).toISOString().slice(0, 16).replace('T', ' ');

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / MINUTE_MS;
  const two = (part: number): string => String(Math.floor(part)).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** Returns the zone's offsets from UTC at two instants; one offset if both are the same. Milliseconds. */
function offsetsAt(timeZone: string, fromMs: number, toMs: number): readonly number[] {
  return [...new Set([fromMs, toMs].map((instant) => localTime(timeZone, instant) - instant))];
}
