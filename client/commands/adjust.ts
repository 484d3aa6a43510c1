import { InvalidArgumentError } from 'commander';
import type { LimitsChange } from '../../domain/limits';
import type { Window } from '../../domain/windows';
import { CommandFailed } from '../command-failed';
import { readWindow } from '../window-text';
import type { Context } from './context';
import { send } from './decisions';
import type { SenderOptions } from './sender';
import { addSender, senderOf } from './sender';
import { withFerry } from './with-ferry';

interface Adjusted extends SenderOptions {
  readonly reason?: string;
  readonly slicesAtOnce?: number;
  readonly companiesPerSlice?: number;
  readonly companiesPerMinute?: number | null;
  readonly toleratedFailures?: number | null;
  readonly toleratedShare?: number | null;
  readonly window?: readonly Window[] | boolean;
}

/** `ferry adjust`: changes the limits of a migration, also of what is under way. */
export function addAdjust({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('adjust <migration>')
      .description('Change the limits of a migration, also of what is under way')
      .option('--slices-at-once <number>', 'slices that move companies side by side', number)
      .option('--companies-per-slice <number>', 'companies that one slice moves side by side', number)
      .option('--companies-per-minute <number>', 'companies started in a minute, or "any"', numberOrAny)
      .option('--tolerated-failures <number>', 'failures that do not pause the batch, or "any"', numberOrAny)
      .option('--tolerated-share <share>', 'the same as a share of what was tried, from 0 to 1, or "any"', numberOrAny)
      .option(
        '--window <hours>',
        'start companies in these hours alone, as "mon-fri 22:00-05:00 Europe/London"; may be repeated',
        (text: string, windows: readonly Window[] = []) => [...windows, readWindow(text)],
      )
      .option('--no-window', 'start companies at any hour')
      .option('--reason <text>', 'why'),
  ).action((migration: string, options: Adjusted) =>
    run(() =>
      withFerry(terminal.env, (ferry) =>
        send(ferry, migration, 'adjust', {
          limits: limitsOf(options),
          ...senderOf(options),
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        }),
      ),
    ),
  );
}

function limitsOf({ window, ...options }: Adjusted): LimitsChange {
  const { slicesAtOnce, companiesPerSlice, companiesPerMinute, toleratedFailures, toleratedShare } = options;
  const limits: LimitsChange = {
    ...(slicesAtOnce === undefined ? {} : { slicesAtOnce }),
    ...(companiesPerSlice === undefined ? {} : { companiesPerSliceAtOnce: companiesPerSlice }),
    ...(companiesPerMinute === undefined ? {} : { companiesPerMinute }),
    ...(toleratedFailures === undefined ? {} : { toleratedFailures }),
    ...(toleratedShare === undefined ? {} : { toleratedShare }),
    // Commander says true where neither option was used.
    ...(typeof window === 'object' ? { windows: window } : window === false ? { windows: [] } : {}),
  };
  if (Object.keys(limits).length > 0) return limits;
  throw new CommandFailed('no limit was named', 'see them all with: ferry adjust --help');
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('A number is expected.');
  return value;
}

function numberOrAny(text: string): number | null {
  return text === 'any' ? null : number(text);
}
