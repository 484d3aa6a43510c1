/** Formats the values of limits as briefly as people type them. */
import type { Route } from '../../platforms/platforms';
import { counted, duration, numberText } from '../text/sentences';
import { LIMIT_NAMES, percent, type LimitsChange, type MigrationLimits, type ReminderIntervals } from './limits';
import { windowsText } from './window-texts';

const limitText = (limit: number | null): string => (limit === null ? 'any' : numberText(limit));

const VALUES: { readonly [Name in keyof MigrationLimits]: (value: MigrationLimits[Name]) => string } = {
  slicesAtOnce: String,
  companiesPerSliceAtOnce: String,
  companiesPerMinute: limitText,
  syncTimeoutMs: duration,
  rampCompanies: numberText,
  toleratedFailures: limitText,
  toleratedShare: (share) => (share === null ? 'any' : percent(share)),
  windows: shownWindows,
  remindBeforeStale: intervalsText,
  remindWhileStale: intervalsText,
};

export function intervalsText({ firstAfterMs, everyMs, escalateAfterMs }: ReminderIntervals): string {
  const every = everyMs === DAY_MS ? 'day' : wholeDays(everyMs);
  return `after ${wholeDays(firstAfterMs)}, then every ${every}, escalated after ${wholeDays(escalateAfterMs)}`;
}

const DAY_MS = 24 * 3_600_000;

/** Formats a duration in days if it is a number of whole days. */
const wholeDays = (ms: number): string => (ms > 0 && ms % DAY_MS === 0 ? counted(ms / DAY_MS, 'day') : duration(ms));

/**
 * How many windows are written out. Further windows are given as a number, because the text of a decision is stored and
 * should be short. `ferry schedule show` lists the next openings of all windows.
 */
const WINDOWS_SHOWN = 3;

/** Returns the first windows, and how many others there are. */
export function shownWindows(windows: MigrationLimits['windows']): string {
  const more = windows.length - WINDOWS_SHOWN;
  return `${windowsText(windows.slice(0, WINDOWS_SHOWN))}${more > 0 ? ` and ${more} more` : ''}`;
}

const NAMES = Object.keys(VALUES) as readonly (keyof MigrationLimits)[];

/**
 * Returns every limit that is specified and has an effect in this route, one line each: `companies per minute: 20`.
 */
export function limitLines(limits: LimitsChange, route: Route): readonly string[] {
  return NAMES.flatMap((name) => {
    const value = valueText(name, limits[name]);
    return value === null || !hasEffect(name, route) ? [] : [`${nameOf(name, route)}: ${value}`];
  });
}

/** In the self-service route, data is out of date from the start, so `remindBeforeStale` has no effect. */
function hasEffect(name: keyof MigrationLimits, route: Route): boolean {
  return route === 'managed' || name !== 'remindBeforeStale';
}

/** Returns the name of a limit. In the self-service route, there is only one kind of reminder, so no step is named. */
function nameOf(name: keyof MigrationLimits, route: Route): string {
  return route === 'self-service' && name === 'remindWhileStale' ? 'reminders' : LIMIT_NAMES[name];
}

/** Returns the old and the new value of every limit that a decision sets: `companies per minute: 20 -> 6`. */
export function changedLimitsText(before: MigrationLimits, change: LimitsChange, route: Route): string {
  return NAMES.flatMap((name) => {
    const [old, value] = [valueText(name, before[name]), valueText(name, change[name])];
    if (value === null) return [];
    if (!hasEffect(name, route)) return ['reminders before the data is out of date: no effect in self-service'];
    return [`${nameOf(name, route)}: ${old === value ? `${value}, as before` : `${old} -> ${value}`}`];
  }).join('; ');
}

function valueText<Name extends keyof MigrationLimits>(
  name: Name,
  value: MigrationLimits[Name] | undefined,
): string | null {
  return value === undefined ? null : VALUES[name](value);
}

/**
 * Returns the limits on the speed of moves and on failures, on one line. Leaves out `companiesPerMinute` and
 * `toleratedFailures` if they are null. Companies that are syncing do not count towards `companiesPerSliceAtOnce`.
 */
export function mainLimitsText(limits: MigrationLimits): string {
  const { slicesAtOnce, companiesPerSliceAtOnce, companiesPerMinute, rampCompanies, toleratedFailures } = limits;
  return [
    ...(companiesPerMinute === null ? [] : [`${LIMIT_NAMES.companiesPerMinute} ${numberText(companiesPerMinute)}`]),
    `${LIMIT_NAMES.slicesAtOnce} ${slicesAtOnce} (${companiesPerSliceAtOnce} each, plus syncing)`,
    `${LIMIT_NAMES.rampCompanies} ${numberText(rampCompanies)}`,
    ...(toleratedFailures === null ? [] : [`${LIMIT_NAMES.toleratedFailures} ${numberText(toleratedFailures)}`]),
    `${LIMIT_NAMES.toleratedShare} ${VALUES.toleratedShare(limits.toleratedShare)}`,
  ].join(', ');
}
