import type { Weekday, Window } from '../../domain/planning/windows';
import { isTimeZone, isWindow, WEEKDAYS } from '../../domain/planning/windows';
import { CommandFailed } from './command-failed';

/** `mon-fri 22:00-05:00 Europe/London`, or `sat,sun 00:00-24:00 UTC`, `daily 20:00-23:00 UTC`. */
const WINDOW = /^(?<days>[a-z,-]+) +(?<from>\d\d:\d\d)-(?<to>\d\d:\d\d) +(?<timeZone>\S+)$/i;

/**
 * A window as people write it.
 *
 * @throws CommandFailed
 */
export function readWindow(text: string): Window {
  const { days = '', from = '', to = '', timeZone = '' } = WINDOW.exec(text.trim())?.groups ?? {};
  const window = { days: readDays(days.toLowerCase()), from, to: to === '24:00' ? '00:00' : to, timeZone };
  if (timeZone !== '' && !isTimeZone(timeZone)) {
    throw new CommandFailed(`there is no time zone ${timeZone}`, 'name one as Europe/London or UTC');
  }
  if (!isWindow(window)) throw noWindow(text);
  return window;
}

function noWindow(text: string): CommandFailed {
  return new CommandFailed(`"${text}" is no window`, 'write "mon-fri 22:00-05:00 Europe/London"');
}

/** `mon-fri`, `sat,sun`, `fri-mon`; `daily`. An unknown day gives none. */
function readDays(text: string): readonly Weekday[] {
  if (text === 'daily') return WEEKDAYS;
  const days = text.split(',').flatMap((part): readonly (Weekday | undefined)[] => {
    const [first, last = first] = part.split('-').map((name) => WEEKDAYS.indexOf(name as Weekday));
    if (first === undefined || last === undefined || first < 0 || last < 0) return [undefined];
    const count = ((last - first + WEEKDAYS.length) % WEEKDAYS.length) + 1;
    return Array.from({ length: count }, (_, index) => WEEKDAYS[(first + index) % WEEKDAYS.length]);
  });
  return days.every((day) => day !== undefined) ? [...new Set(days)] : [];
}
