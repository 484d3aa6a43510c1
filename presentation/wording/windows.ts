import type { Weekday, Window } from '../../domain/planning/windows';
import { WEEKDAYS } from '../../domain/planning/windows';

/** A window as people write it, and as `ferry` reads it: `mon-fri 22:00-05:00 Europe/London`, `daily 00:00-24:00 UTC`. */
export function windowText({ days, from, to, timeZone }: Window): string {
  return `${daysInWords(days)} ${from}-${to === '00:00' ? '24:00' : to} ${timeZone}`;
}

/** No windows: companies may be started at any time. */
export function windowsText(windows: readonly Window[]): string {
  return windows.length === 0 ? 'at any hour' : windows.map(windowText).join('; ');
}

/** Days that follow each other in a week are one span. */
function daysInWords(days: readonly Weekday[]): string {
  if (days.length === WEEKDAYS.length) return 'daily';
  const spans: Weekday[][] = [];
  for (const [index, day] of WEEKDAYS.entries()) {
    if (!days.includes(day)) continue;
    const before = spans.at(-1);
    if (before && before.at(-1) === WEEKDAYS[index - 1]) before.push(day);
    else spans.push([day]);
  }
  return spans.map((span) => (span.length === 1 ? span[0] : `${span[0]}-${span.at(-1)}`)).join(',');
}
