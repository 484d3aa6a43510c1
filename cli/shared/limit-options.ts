import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import ms from 'ms';
import type { LimitsChange, ReminderIntervals } from '../../domain/planning/limits';
import type { Window } from '../../domain/planning/windows';
import { readWindow } from './window-text';

export interface LimitOptions {
  readonly slicesAtOnce?: number;
  readonly companiesPerSlice?: number;
  readonly companiesPerMinute?: number | null;
  readonly ramp?: number;
  readonly toleratedFailures?: number | null;
  readonly toleratedShare?: number | null;
  readonly syncTimeout?: number;
  readonly remindBeforeDark?: ReminderIntervals;
  readonly remindWhileDark?: ReminderIntervals;
  readonly window?: readonly Window[] | boolean;
}

/** The limits of a migration, as options. */
export function addLimits(command: Command): Command {
  return addWindow(
    command
      .option('--slices-at-once <number>', 'slices that move companies side by side', number)
      .option('--companies-per-slice <number>', 'companies that one slice moves side by side', number)
      .option('--companies-per-minute <number>', 'companies started in a minute, or "any"', numberOrAny)
      .option('--ramp <number>', 'so many companies are moved before the rest, 0 for no ramp', number)
      .option('--tolerated-failures <number>', 'failures that do not pause the batch, or "any"', numberOrAny)
      .option('--tolerated-share <share>', 'the same as a share of what was tried, from 0 to 1, or "any"', numberOrAny)
      .option('--sync-timeout <duration>', 'a company that syncs longer has failed, as 36h', duration)
      .option(
        '--remind-before-dark <first,every,escalate>',
        'when people are reminded while data is fresh, as 2d,1d,7d',
        patience,
      )
      .option(
        '--remind-while-dark <first,every,escalate>',
        'when people are reminded once syncing is disabled, as 2h,1h,8h',
        patience,
      ),
  );
}

/** The hours in which companies may be started. */
export function addWindow(command: Command): Command {
  return command
    .option(
      '--window <hours>',
      'start companies in these hours alone, as "mon-fri 22:00-05:00 Europe/London"; may be repeated',
      (text: string, windows: readonly Window[] = []) => [...windows, readWindow(text)],
    )
    .option('--no-window', 'start companies at any hour');
}

/** The limits that were named. */
export function limitsOf(options: LimitOptions): LimitsChange {
  const { slicesAtOnce, companiesPerSlice, companiesPerMinute, ramp, toleratedFailures, toleratedShare } = options;
  const { syncTimeout, remindBeforeDark, remindWhileDark } = options;
  return {
    ...(slicesAtOnce === undefined ? {} : { slicesAtOnce }),
    ...(companiesPerSlice === undefined ? {} : { companiesPerSliceAtOnce: companiesPerSlice }),
    ...(companiesPerMinute === undefined ? {} : { companiesPerMinute }),
    ...(ramp === undefined ? {} : { rampCompanies: ramp }),
    ...(toleratedFailures === undefined ? {} : { toleratedFailures }),
    ...(toleratedShare === undefined ? {} : { toleratedShare }),
    ...(syncTimeout === undefined ? {} : { syncTimeoutMs: syncTimeout }),
    ...(remindBeforeDark === undefined ? {} : { remindBeforeDark }),
    ...(remindWhileDark === undefined ? {} : { remindWhileDark }),
    ...windowsOf(options),
  };
}

/** Commander says true where neither option was used. */
export function windowsOf({ window }: Pick<LimitOptions, 'window'>): { readonly windows?: readonly Window[] } {
  if (typeof window === 'object') return { windows: window };
  return window === false ? { windows: [] } : {};
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('A number is expected.');
  return value;
}

function numberOrAny(text: string): number | null {
  return text === 'any' ? null : number(text);
}

/** Milliseconds. */
function duration(text: string): number {
  const value = /^[\d.]+ ?[a-z]+$/i.test(text.trim()) ? ms(text.trim() as ms.StringValue) : undefined;
  if (value === undefined) throw new InvalidArgumentError('A duration is expected, as 90m, 36h or 2d.');
  return value;
}

function patience(text: string): ReminderIntervals {
  const [firstAfterMs, everyMs, escalateAfterMs, ...more] = text.split(',').map(duration);
  if (firstAfterMs === undefined || everyMs === undefined || escalateAfterMs === undefined || more.length > 0) {
    throw new InvalidArgumentError('Three durations are expected: the first reminder, every further one, escalation.');
  }
  return { firstAfterMs, everyMs, escalateAfterMs };
}
