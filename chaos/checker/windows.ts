/** Says whether an instant is inside weekly windows, by the local time that `Intl` shows. */
import type { WeeklyWindow } from './evidence';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Returns whether moves can begin at this time. Without windows they always can. When clocks go back, a window that
 * contains the repeated hour contains it both times.
 *
 * @param at milliseconds since 1970
 */
export function isInside(windows: readonly WeeklyWindow[], at: number): boolean {
  return windows.length === 0 || windows.some((window) => isInsideOne(window, at));
}

function isInsideOne({ days, from, to, timeZone }: WeeklyWindow, at: number): boolean {
  const { day, clock } = localTime(timeZone, at);
  const today = DAYS[day] ?? '';
  if (from < to) return days.includes(today) && clock >= from && clock < to;
  const yesterday = DAYS[(day + 6) % 7] ?? '';
  return (days.includes(today) && clock >= from) || (days.includes(yesterday) && clock < to);
}

/** Returns the day of the week (0 is Sunday) and the time of day as `HH:MM`, which can be compared as text. */
function localTime(timeZone: string, at: number): { readonly day: number; readonly clock: string } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const weekday = parts.get('weekday')?.toLowerCase() ?? '';
  return { day: DAYS.indexOf(weekday), clock: `${parts.get('hour')}:${parts.get('minute')}` };
}
