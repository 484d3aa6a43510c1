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

/** Whether a value has a window's shape. Whether its time zone exists is for whoever computes with it to say. */
export function isWindow(value: unknown): value is Window {
  if (typeof value !== 'object' || value === null) return false;
  const { days, from, to, timeZone } = value as Record<string, unknown>;
  return (
    Array.isArray(days) &&
    days.length > 0 &&
    days.every((day) => WEEKDAYS.some((known) => known === day)) &&
    isClock(from) &&
    isClock(to) &&
    typeof timeZone === 'string' &&
    timeZone.length > 0 &&
    timeZone.length <= 64
  );
}

function isClock(value: unknown): boolean {
  return typeof value === 'string' && CLOCK.test(value);
}
