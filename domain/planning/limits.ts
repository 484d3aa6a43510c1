/**
 * The limits of a migration. The plan sets them, `adjust` changes them, and a proposed start can change the windows.
 * The ledger stores the current limits.
 */
import { counted, outOf, numberText } from '../text/sentences';
import { fieldsOf } from '../text/untrusted-text';
import { isWindow, type Window } from './windows';

/** The intervals of reminders to people who have to act, and the time until the wait is escalated. Milliseconds. */
export interface ReminderIntervals {
  readonly firstAfterMs: number;
  readonly everyMs: number;
  readonly escalateAfterMs: number;
}

export interface MigrationLimits {
  /** Slices that import at the same time. */
  readonly slicesAtOnce: number;
  /** Companies that one slice imports at the same time. */
  readonly companiesPerSliceAtOnce: number;
  /** Moves that all slices together begin per minute; null if only the service limits the rate. */
  readonly companiesPerMinute: number | null;
  /** A company that has been `syncing` for this long fails. Milliseconds. */
  readonly syncTimeoutMs: number;
  /** Number of companies to move and verify before the other moves begin; 0 for no ramp. */
  readonly rampCompanies: number;
  /**
   * The migration pauses itself if more than `toleratedFailures` companies have failed, or more than the share
   * `toleratedShare` (0 to 1) of the companies that were tried. Null if there is no such limit. An unknown outcome
   * counts as a failure. Failures that were accepted by resuming do not count.
   */
  readonly toleratedFailures: number | null;
  readonly toleratedShare: number | null;
  /** Empty: moves can begin at any time. */
  readonly windows: readonly Window[];
  /** Until step 4 ends; daily by default. */
  readonly remindBeforeStale: ReminderIntervals;
  /** After step 4, and in the self-service route from the start; hourly by default, because data is out of date. */
  readonly remindWhileStale: ReminderIntervals;
}

export type LimitsChange = Partial<MigrationLimits>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_LIMITS: MigrationLimits = {
  slicesAtOnce: 4,
  companiesPerSliceAtOnce: 8,
  companiesPerMinute: null,
  syncTimeoutMs: 36 * HOUR_MS,
  rampCompanies: 20,
  toleratedFailures: null,
  toleratedShare: 0.2,
  windows: [],
  remindBeforeStale: { firstAfterMs: 2 * DAY_MS, everyMs: DAY_MS, escalateAfterMs: 7 * DAY_MS },
  remindWhileStale: { firstAfterMs: 2 * HOUR_MS, everyMs: HOUR_MS, escalateAfterMs: 8 * HOUR_MS },
};

interface LimitRule {
  readonly isValid: (value: unknown) => boolean;
  /** Completes the sentence "NAME must be ...". */
  readonly expected: string;
  /** The fields to keep. Any other fields are dropped, because a message can contain anything and limits are stored. */
  readonly fields?: readonly string[];
}

const REMINDER_INTERVALS: LimitRule = {
  isValid: isReminderIntervals,
  expected:
    'an object with firstAfterMs, everyMs and escalateAfterMs, each a whole number of milliseconds from a minute to 365 days',
  fields: ['firstAfterMs', 'everyMs', 'escalateAfterMs'],
};

const RULES: Readonly<Record<keyof MigrationLimits, LimitRule>> = {
  slicesAtOnce: { isValid: wholeWithin(1, 64), expected: 'a whole number from 1 to 64' },
  companiesPerSliceAtOnce: { isValid: wholeWithin(1, 500), expected: 'a whole number from 1 to 500' },
  companiesPerMinute: {
    isValid: orNull(wholeWithin(1, 1_000_000)),
    expected: 'a whole number from 1 to 1,000,000, or null',
  },
  syncTimeoutMs: {
    isValid: wholeWithin(MINUTE_MS, 30 * DAY_MS),
    expected: 'a whole number of milliseconds, from a minute to 30 days',
  },
  rampCompanies: { isValid: wholeWithin(0, 100_000), expected: 'a whole number from 0 to 100,000; 0 means no ramp' },
  toleratedFailures: {
    isValid: orNull(wholeWithin(0, 1_000_000)),
    expected: 'a whole number from 0 to 1,000,000, or null',
  },
  toleratedShare: { isValid: orNull(isShare), expected: 'a number from 0 to 1, or null' },
  windows: {
    isValid: (value) => Array.isArray(value) && value.length <= 50 && value.every(isWindow),
    expected:
      'a list of at most 50 windows with valid time zones, e.g. [{"days": ["mon"], "from": "22:00", "to": "05:00", "timeZone": "Europe/London"}]',
    fields: ['days', 'from', 'to', 'timeZone'],
  },
  remindBeforeStale: REMINDER_INTERVALS,
  remindWhileStale: REMINDER_INTERVALS,
};

/** Returns which values of a limit are valid, to follow "must be"; null if the given value is valid. */
export function expectedLimit(name: keyof MigrationLimits, value: unknown): string | null {
  const { isValid, expected } = RULES[name];
  return isValid(value) ? null : expected;
}

/** The names of the limits in texts for people. */
export const LIMIT_NAMES: Readonly<Record<keyof MigrationLimits, string>> = {
  slicesAtOnce: 'slices at once',
  companiesPerSliceAtOnce: 'companies per slice at once',
  companiesPerMinute: 'companies per minute',
  syncTimeoutMs: 'sync timeout',
  rampCompanies: 'ramp',
  toleratedFailures: 'tolerated failures',
  toleratedShare: 'tolerated share',
  windows: 'windows',
  remindBeforeStale: 'reminders in steps 1 to 4',
  remindWhileStale: 'reminders in steps 5 and 6 and in self-service',
};

/** Parses an untrusted change of limits. */
export function parseLimits(value: unknown): { readonly limits: LimitsChange } | { readonly malformed: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { malformed: 'limits must be an object' };
  const entries = Object.entries(value);
  if (entries.length === 0) return { malformed: 'limits must contain at least one limit' };
  const limits: Record<string, unknown> = {};
  for (const [name, given] of entries) {
    if (!isLimit(name)) return { malformed: unknownLimit(name) };
    const { isValid, expected, fields } = RULES[name];
    if (!isValid(given)) return { malformed: `${name} must be ${expected}` };
    limits[name] = fields ? pick(fields, given) : given;
  }
  return { limits };
}

/** Copies only these fields of an object, or of each object in a list. */
function pick(fields: readonly string[], value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => pick(fields, each));
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => fields.includes(name)));
}

/** Reports an unknown name. Quotes it only if it has the form of a name, because the message is stored. */
function unknownLimit(name: string): string {
  const limit = /^\w{1,40}$/.test(name) ? `unknown limit ${name}` : 'unknown limit';
  return `${limit}; the limits are ${Object.keys(RULES).join(', ')}`;
}

function isLimit(name: string): name is keyof MigrationLimits {
  return Object.hasOwn(RULES, name);
}

function wholeWithin(lowest: number, highest: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= lowest && value <= highest;
}

function orNull(isValid: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === null || isValid(value);
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isReminderIntervals(value: unknown): boolean {
  const { firstAfterMs, everyMs, escalateAfterMs } = fieldsOf(value);
  return [firstAfterMs, everyMs, escalateAfterMs].every(wholeWithin(MINUTE_MS, 365 * DAY_MS));
}

/** The share is ignored for fewer companies than this, because a few failures would already be a large share. */
export const MIN_TRIED_FOR_SHARE = 20;

/**
 * Returns the numbers that exceed the tolerance, with the limit that they exceed.
 *
 * @param failures `accepted` failures are not among `failed`, because the migration was resumed after them
 */
export function exceededToleranceText(
  limits: Pick<MigrationLimits, 'toleratedFailures' | 'toleratedShare'>,
  { failed, tried, accepted }: { readonly failed: number; readonly tried: number; readonly accepted: number },
): string {
  const { toleratedFailures, toleratedShare } = limits;
  const numbers = `when the migration paused, ${outOf(failed, tried, 'tried company')} could not be moved, which is`;
  // Names the share as the reason if it exceeds its limit, otherwise the count.
  const isShare = exceedsTolerance({ toleratedShare, toleratedFailures: null }, { failed, tried });
  const [is, their] = accepted === 1 ? ['company is', 'its failure was'] : ['companies are', 'their failures were'];
  const notCounted =
    accepted > 0
      ? `; ${numberText(accepted)} more failed ${is} not counted, because ${their} accepted when someone resumed the migration`
      : '';
  return `${numbers} ${isShare ? shareText(failed / tried, toleratedShare ?? 1) : `more than the limit of ${counted(toleratedFailures ?? 0, 'company')}`}${notCounted}`;
}

/** Compares a share with the limit that it exceeds. Leaves the share out if both are the same when rounded. */
function shareText(share: number, limit: number): string {
  const [measured, tolerated] = [percent(share), percent(limit)];
  return measured === tolerated
    ? `slightly more than the limit of ${tolerated}`
    : `${measured}, more than the limit of ${tolerated}`;
}

/** Formats a share with at most one decimal, as `20%` or `20.4%`. */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10}%`;
}

/** Returns whether more companies have failed than the limits tolerate. */
export function exceedsTolerance(
  { toleratedFailures, toleratedShare }: Pick<MigrationLimits, 'toleratedFailures' | 'toleratedShare'>,
  { failed, tried }: { readonly failed: number; readonly tried: number },
): boolean {
  if (toleratedFailures !== null && failed > toleratedFailures) return true;
  return toleratedShare !== null && tried >= MIN_TRIED_FOR_SHARE && failed > toleratedShare * tried;
}
