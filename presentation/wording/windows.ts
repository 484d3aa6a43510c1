/** Formats windows as people type them, and parses windows that people have typed. */
import type { Weekday, Window } from '../../domain/planning/windows';
import { isTimeZone, isWindow, WEEKDAYS } from '../../domain/planning/windows';

/** Returns a window as text: `mon-fri 22:00-05:00 Europe/London`, `daily 00:00-24:00 UTC`. */
export function windowText({ days, from, to, timeZone }: Window): string {
  return `${daysText(days)} ${from}-${to === '00:00' ? '24:00' : to} ${timeZone}`;
}

/** Returns all windows of a migration as text. Without windows, moves can begin at any time. */
export function windowsText(windows: readonly Window[]): string {
  return windows.length === 0 ? 'at any time' : windows.map(windowText).join('; ');
}

/** Joins consecutive days of the week: `mon-wed,sat`. */
function daysText(days: readonly Weekday[]): string {
  if (days.length === WEEKDAYS.length) return 'daily';
  const spans: Weekday[][] = [];
  for (const [index, day] of WEEKDAYS.entries()) {
    if (!days.includes(day)) continue;
    const last = spans.at(-1);
    if (last && last.at(-1) === WEEKDAYS[index - 1]) last.push(day);
    else spans.push([day]);
  }
  return spans.map((span) => (span.length === 1 ? span[0] : `${span[0]}-${span.at(-1)}`)).join(',');
}

/** Matches `mon-fri 22:00-05:00 Europe/London`, `sat,sun 00:00-24:00 UTC`, `daily 20:00-23:00 UTC`. */
const WINDOW = /^(?<days>[a-z,-]+) +(?<from>\d\d:\d\d)-(?<to>\d\d:\d\d) +(?<timeZone>\S+)$/i;

/** Parses one window, or says what is wrong with it. */
export function parseWindowText(text: string): Window | { readonly problem: string } {
  const { days = '', from = '', to = '', timeZone = '' } = WINDOW.exec(text.trim())?.groups ?? {};
  const window = { days: parseDays(days.toLowerCase()), from, to: to === '24:00' ? '00:00' : to, timeZone };
  if (timeZone !== '' && !isTimeZone(timeZone))
    return { problem: `There is no time zone ${timeZone}; use a name such as Europe/London or UTC.` };
  return isWindow(window) ? window : { problem: 'Write it like "mon-fri 22:00-05:00 Europe/London".' };
}

/** Parses `mon-fri`, `sat,sun`, `fri-mon` or `daily`. Returns an empty list if any day is unknown. */
function parseDays(text: string): readonly Weekday[] {
  if (text === 'daily') return WEEKDAYS;
  const days = text.split(',').flatMap((part): readonly (Weekday | undefined)[] => {
    const [first, last = first] = part.split('-').map((name) => WEEKDAYS.indexOf(name as Weekday));
    if (first === undefined || last === undefined || first < 0 || last < 0) return [undefined];
    const count = ((last - first + WEEKDAYS.length) % WEEKDAYS.length) + 1;
    return Array.from({ length: count }, (_, index) => WEEKDAYS[(first + index) % WEEKDAYS.length]);
  });
  return days.every((day) => day !== undefined) ? [...new Set(days)] : [];
}
