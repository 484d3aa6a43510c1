import { InvalidArgumentError, type Command } from 'commander';
import ms from 'ms';
import {
  expectedLimit,
  LIMIT_NAMES,
  type LimitsChange,
  type MigrationLimits,
  type ReminderIntervals,
} from '../../domain/planning/limits';
import type { Window } from '../../domain/planning/windows';
import type { Route } from '../../platforms/platforms';
import { parseWindowText } from '../../presentation/wording/windows';

/**
 * The value that removes a limit. It is not null, because commander turns a null from a parser into an empty string.
 */
const ANY = 'any';

export interface LimitOptions {
  readonly slicesAtOnce?: number;
  readonly companiesPerSlice?: number;
  readonly companiesPerMinute?: number | typeof ANY;
  readonly ramp?: number;
  readonly toleratedFailures?: number | typeof ANY;
  readonly toleratedShare?: number | typeof ANY;
  readonly syncTimeout?: number;
  readonly remindBeforeStale?: ReminderIntervals;
  readonly remindWhileStale?: ReminderIntervals;
  readonly window?: readonly Window[] | boolean;
}

/**
 * Adds the options for limits.
 *
 * @param route leaves out the limits that have no effect in this route; default: the options of both routes
 */
export function addLimitOptions(command: Command, route?: Route): Command {
  addWindowOptions(
    command
      .option(
        '--slices-at-once <number>',
        'number of slices that work at the same time; each slice moves a part of the companies',
        limit('slicesAtOnce'),
      )
      .option(
        '--companies-per-slice <number>',
        'number of companies that a slice moves at the same time; companies that are syncing do not count',
        limit('companiesPerSliceAtOnce'),
      )
      .option(
        '--companies-per-minute <number>',
        'maximum number of moves that begin per minute; "any" means no limit',
        limitOrAny('companiesPerMinute'),
      )
      .option(
        '--ramp <number>',
        'number of companies in the ramp, which are moved before the others; 0 means no ramp',
        limit('rampCompanies'),
      )
      .option(
        '--tolerated-failures <number>',
        'pause the migration when more than this number of companies could not be moved; "any" means no limit',
        limitOrAny('toleratedFailures'),
      )
      .option(
        '--tolerated-share <share>',
        'pause the migration when more than this share (0 to 1) of the tried companies could not be moved, once 20 companies have been tried; "any" means no limit',
        limitOrAny('toleratedShare'),
      )
      .option(
        '--sync-timeout <duration>',
        'time after which a company that is still syncing is treated as not moved, e.g. 36h',
        parseSyncTimeout,
      ),
  );
  // In the self-service route, data is out of date from the start.
  if (route !== 'self-service')
    command.option(
      '--remind-before-stale <first,every,escalate>',
      `${LIMIT_NAMES.remindBeforeStale}, e.g. 2d,1d,7d: while the migration waits for a person, a first reminder after 2 days, then one every day, and an escalation after 7 days`,
      parseReminders,
    );
  return command.option(
    '--remind-while-stale <first,every,escalate>',
    `${route === 'self-service' ? 'reminders' : LIMIT_NAMES.remindWhileStale}, e.g. 2h,1h,8h: while the migration waits for a person, a first reminder after 2 hours, then one every hour, and an escalation after 8 hours`,
    parseReminders,
  );
}

/** Adds `--window` and `--no-window`: the hours in which moves may begin. */
export function addWindowOptions(command: Command): Command {
  return command
    .option(
      '--window <hours>',
      'begin moves only in these hours, e.g. "mon-fri 22:00-05:00 Europe/London"; repeat the option for more windows',
      // After `--no-window`, the value so far is false.
      (text: string, windows: readonly Window[] | boolean = []) => [
        ...(typeof windows === 'boolean' ? [] : windows),
        parseWindow(text),
      ],
    )
    .option('--no-window', 'move companies at any time');
}

export function limitsFrom(options: LimitOptions): LimitsChange {
  const { slicesAtOnce, companiesPerSlice, companiesPerMinute, ramp, toleratedFailures, toleratedShare } = options;
  const { syncTimeout, remindBeforeStale, remindWhileStale } = options;
  return {
    ...(slicesAtOnce === undefined ? {} : { slicesAtOnce }),
    ...(companiesPerSlice === undefined ? {} : { companiesPerSliceAtOnce: companiesPerSlice }),
    ...(companiesPerMinute === undefined ? {} : { companiesPerMinute: orNull(companiesPerMinute) }),
    ...(ramp === undefined ? {} : { rampCompanies: ramp }),
    ...(toleratedFailures === undefined ? {} : { toleratedFailures: orNull(toleratedFailures) }),
    ...(toleratedShare === undefined ? {} : { toleratedShare: orNull(toleratedShare) }),
    ...(syncTimeout === undefined ? {} : { syncTimeoutMs: syncTimeout }),
    ...(remindBeforeStale === undefined ? {} : { remindBeforeStale }),
    ...(remindWhileStale === undefined ? {} : { remindWhileStale }),
    ...windowsFrom(options),
  };
}

/** Returns the specified windows: an empty list after `--no-window`, no list at all if neither option was used. */
export function windowsFrom({ window }: Pick<LimitOptions, 'window'>): { readonly windows?: readonly Window[] } {
  if (typeof window === 'object') return { windows: window };
  return window === false ? { windows: [] } : {};
}

/** Returns a parser for the value of a limit. The parser accepts the same values as a migration. */
function limit(name: keyof MigrationLimits): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? NaN : Number(text);
    const expected = expectedLimit(name, value);
    if (expected !== null) throw new InvalidArgumentError(`Expected ${expected.replace('or null', `or "${ANY}"`)}.`);
    return value;
  };
}

function limitOrAny(name: keyof MigrationLimits): (text: string) => number | typeof ANY {
  return (text) => (text === ANY ? ANY : limit(name)(text));
}

function orNull(limit: number | typeof ANY): number | null {
  return limit === ANY ? null : limit;
}

/** Parses a duration such as `90m`, `36h` or `2d`. Returns milliseconds. */
export function parseDuration(text: string): number {
  const value = /^[\d.]+ ?[a-z]+$/i.test(text.trim()) ? ms(text.trim() as ms.StringValue) : undefined;
  if (value === undefined) throw new InvalidArgumentError('Expected a duration, e.g. 90m, 36h or 2d.');
  return value;
}

/**
 * Parses a sync timeout. Has its own message, because the message about the limit states milliseconds, which would not
 * help people who have typed a duration.
 */
function parseSyncTimeout(text: string): number {
  const timeoutMs = parseDuration(text);
  if (expectedLimit('syncTimeoutMs', timeoutMs) === null) return timeoutMs;
  throw new InvalidArgumentError('Expected a duration from 1m to 30d.');
}

function parseReminders(text: string): ReminderIntervals {
  const [firstAfterMs, everyMs, escalateAfterMs, ...more] = text.split(',').map(parseDuration);
  if (firstAfterMs === undefined || everyMs === undefined || escalateAfterMs === undefined || more.length > 0) {
    throw new InvalidArgumentError('Expected three durations: first reminder, later reminders, escalation.');
  }
  const intervals = { firstAfterMs, everyMs, escalateAfterMs };
  // Both kinds of reminders have the same limits.
  if (expectedLimit('remindWhileStale', intervals) === null) return intervals;
  throw new InvalidArgumentError('Expected three durations, each from 1m to 365d.');
}

/** @throws InvalidArgumentError, to which commander adds the name of the option */
export function parseWindow(text: string): Window {
  const window = parseWindowText(text);
  if ('problem' in window) throw new InvalidArgumentError(window.problem);
  return window;
}
