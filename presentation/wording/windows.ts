/** Parses windows that people have typed, and exports the functions that print windows in the same form. */
import { isTimeZone, isWindow, nextMove, WEEKDAYS, type Weekday, type Window } from '../../domain/planning/windows';

export { windowText, windowsText } from '../../domain/planning/window-texts';

/** Matches `mon-fri 22:00-05:00 Europe/London`, `sat,sun 00:00-24:00 UTC`, `daily 20:00-23:00 UTC`. */
const WINDOW = /^(?<days>[a-z,-]+) +(?<from>\d\d:\d\d)-(?<to>\d\d:\d\d) +(?<timeZone>\S+)$/i;

/** Parses one window, or says what is wrong with it. */
export function parseWindowText(text: string): Window | { readonly problem: string } {
  const { days = '', from = '', to = '', timeZone = '' } = WINDOW.exec(text.trim())?.groups ?? {};
  const window = { days: parseDays(days.toLowerCase()), from, to: to === '24:00' ? '00:00' : to, timeZone };
  if (timeZone !== '' && !isTimeZone(timeZone))
    return { problem: `There is no time zone ${timeZone}; use a name such as Europe/London or UTC.` };
  if (isWindow(window)) return window;
  const isZoneMissing = timeZone === '' && WINDOW.test(`${text.trim()} UTC`);
  return {
    problem: `${isZoneMissing ? 'The time zone is missing. ' : ''}Write the window like "mon-fri 22:00-05:00 Europe/London".`,
  };
}

/**
 * Returns when moves can begin, at the given time or in the next window after it.
 *
 * @param windows the result of `windowsText`; null if moves can begin at any time
 */
export function firstMove(windows: string | null, from: Date): Date {
  const parsed = (windows ?? '').split(';').map(parseWindowText);
  const known = parsed.flatMap((window) => ('problem' in window ? [] : [window]));
  const opensAt = known.length < parsed.length ? null : nextMove(known, from.toISOString());
  return opensAt === null ? from : new Date(opensAt);
}

/** Parses `mon-fri`, `sat,sun`, `fri-mon` or `daily`. Returns an empty list if any day is unknown. */
function parseDays(text: string): readonly Weekday[] {
  if (text === 'daily') return WEEKDAYS;
  const days = text.split(',').flatMap((part): readonly (Weekday | undefined)[] => {
    const [first, last = first, ...others] = part.split('-').map((name) => WEEKDAYS.indexOf(name as Weekday));
    if (first === undefined || last === undefined || first < 0 || last < 0 || others.length > 0) return [undefined];
    const count = ((last - first + WEEKDAYS.length) % WEEKDAYS.length) + 1;
    return Array.from({ length: count }, (_, index) => WEEKDAYS[(first + index) % WEEKDAYS.length]);
  });
  return days.every((day) => day !== undefined) ? [...new Set(days)] : [];
}
