/** The plan's limits: what may be changed while a migration is under way. The ledger holds those in force. */
import type { Window } from './windows';
import { isWindow } from './windows';

/** When somebody is reminded who is waited for, and when it is escalated. Milliseconds. */
export interface ReminderIntervals {
  readonly firstAfterMs: number;
  readonly everyMs: number;
  readonly escalateAfterMs: number;
}

export interface MigrationLimits {
  /** Slices that import at the same time. */
  readonly slicesAtOnce: number;
  /** Companies that one slice imports at the same time; times `slicesAtOnce` this is the companies at once. */
  readonly companiesPerSliceAtOnce: number;
  /** Companies started in a minute, over all slices; null: as many as the service takes. */
  readonly companiesPerMinute: number | null;
  /** After this long in `syncing` a company counts as failed. Milliseconds. */
  readonly syncTimeoutMs: number;
  /** So many companies are moved and verified before the rest follows; 0: no ramp. */
  readonly rampCompanies: number;
  /** More failures than this number, or than this share (0 to 1) of what was tried, pause the batch. Null: any number. */
  readonly toleratedFailures: number | null;
  readonly toleratedShare: number | null;
  /** None: companies may be started at any time. */
  readonly windows: readonly Window[];
  /** Before step 4 ends people are waited for in days; from then on, because data is dark, in hours. */
  readonly remindBeforeDark: ReminderIntervals;
  readonly remindWhileDark: ReminderIntervals;
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
  remindBeforeDark: { firstAfterMs: 2 * DAY_MS, everyMs: DAY_MS, escalateAfterMs: 7 * DAY_MS },
  remindWhileDark: { firstAfterMs: 2 * HOUR_MS, everyMs: HOUR_MS, escalateAfterMs: 8 * HOUR_MS },
};

/** What a limit may be, in words for whoever set it wrongly; what else its value carries is not kept, where `fields` says so. */
interface LimitRule {
  readonly holds: (value: unknown) => boolean;
  readonly says: string;
  readonly fields?: readonly string[];
}

const PATIENCE: LimitRule = {
  holds: isPatience,
  says: 'firstAfterMs, everyMs and escalateAfterMs, each at least a minute',
  fields: ['firstAfterMs', 'everyMs', 'escalateAfterMs'],
};

const RULES: Readonly<Record<keyof MigrationLimits, LimitRule>> = {
  slicesAtOnce: { holds: wholeWithin(1, 64), says: 'a whole number from 1 to 64' },
  companiesPerSliceAtOnce: { holds: wholeWithin(1, 500), says: 'a whole number from 1 to 500' },
  companiesPerMinute: { holds: orNull(wholeWithin(1, 1_000_000)), says: 'a whole number of at least 1, or null' },
  syncTimeoutMs: { holds: wholeWithin(MINUTE_MS, 30 * DAY_MS), says: 'milliseconds, from a minute to 30 days' },
  rampCompanies: { holds: wholeWithin(0, 100_000), says: 'a whole number, 0 for no ramp' },
  toleratedFailures: { holds: orNull(wholeWithin(0, 1_000_000)), says: 'a whole number, or null' },
  toleratedShare: { holds: orNull(isShare), says: 'a share from 0 to 1, or null' },
  windows: {
    holds: (value) => Array.isArray(value) && value.length <= 50 && value.every(isWindow),
    says: 'a list of at most 50 windows, of time zones that exist: {"days": ["mon"], "from": "22:00", "to": "05:00", "timeZone": "Europe/London"}',
    fields: ['days', 'from', 'to', 'timeZone'],
  },
  remindBeforeDark: PATIENCE,
  remindWhileDark: PATIENCE,
};

/** The change that a value asks for, or what is wrong with it. */
export function readLimits(value: unknown): { readonly limits: LimitsChange } | { readonly malformed: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { malformed: 'limits must be an object' };
  const entries = Object.entries(value);
  if (entries.length === 0) return { malformed: 'limits must name at least one limit' };
  const limits: Record<string, unknown> = {};
  for (const [name, given] of entries) {
    if (!isLimit(name)) return { malformed: noLimit(name) };
    const { holds, says, fields } = RULES[name];
    if (!holds(given)) return { malformed: `${name} must be ${says}` };
    limits[name] = fields ? only(fields, given) : given;
  }
  return { limits };
}

/** Of an object, or of each of several, these fields alone: limits are stored, and anybody may send what they like. */
function only(fields: readonly string[], value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => only(fields, each));
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => fields.includes(name)));
}

/** What somebody took for one is said again only if it can be one: this is stored, too. */
function noLimit(name: string): string {
  const which = /^\w{1,40}$/.test(name) ? `limit ${name}` : 'such limit';
  return `there is no ${which}; there are ${Object.keys(RULES).join(', ')}`;
}

function isLimit(name: string): name is keyof MigrationLimits {
  return Object.hasOwn(RULES, name);
}

function wholeWithin(lowest: number, highest: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= lowest && value <= highest;
}

function orNull(holds: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === null || holds(value);
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isPatience(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { firstAfterMs, everyMs, escalateAfterMs } = value as Record<string, unknown>;
  return [firstAfterMs, everyMs, escalateAfterMs].every(wholeWithin(MINUTE_MS, 365 * DAY_MS));
}

/** The pace as each slice keeps it: so many slices, each starting so many companies and then waiting so long. */
export interface Pace {
  readonly slices: number;
  /** Started together by one slice at most. */
  readonly companies: number;
  /** After each company that was started. A minute at most after all of them. */
  readonly waitMs: number;
}

/** A pace slower than a company a minute for each slice takes fewer slices: what a slice waits for longer would be forgotten. */
export function paceOf({
  slicesAtOnce,
  companiesPerSliceAtOnce,
  companiesPerMinute,
}: Pick<MigrationLimits, 'slicesAtOnce' | 'companiesPerSliceAtOnce' | 'companiesPerMinute'>): Pace {
  if (companiesPerMinute === null) return { slices: slicesAtOnce, companies: companiesPerSliceAtOnce, waitMs: 0 };
  const slices = Math.min(slicesAtOnce, companiesPerMinute);
  const companies = Math.min(companiesPerSliceAtOnce, Math.floor(companiesPerMinute / slices));
  return { slices, companies, waitMs: (slices * MINUTE_MS) / companiesPerMinute };
}

/** Of fewer companies a share says nothing. */
const LEAST_TRIED = 20;

/** Whether more has failed than is tolerated. */
export function exceedsTolerance(
  { toleratedFailures, toleratedShare }: Pick<MigrationLimits, 'toleratedFailures' | 'toleratedShare'>,
  { failed, tried }: { readonly failed: number; readonly tried: number },
): boolean {
  if (toleratedFailures !== null && failed > toleratedFailures) return true;
  return toleratedShare !== null && tried >= LEAST_TRIED && failed > toleratedShare * tried;
}

/** So many of the ramp's companies may still sync when the rest follows: one in ten, but one at least, so that no sync holds up all others. */
export function stragglersIn(companiesInRamp: number): number {
  return companiesInRamp < 2 ? 0 : Math.max(1, Math.floor(companiesInRamp / 10));
}
