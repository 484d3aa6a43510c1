/** Formats windows as people type them. */
import { WEEKDAYS, type Weekday, type Window } from './windows';

/** Returns a window as text: `mon-fri 22:00-05:00 Europe/London`, `daily 00:00-24:00 UTC`. */
export function windowText({ days, from, to, timeZone }: Window): string {
  return `${daysText(days)} ${from}-${to === '00:00' ? '24:00' : to} ${timeZone}`;
}

/** Returns windows as text. Without windows, moves can begin at any time. */
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
