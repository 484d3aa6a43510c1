import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { loadConfig } from '../../config';
import type { Role } from '../../domain/migration/steps';
import { ROLES } from '../../domain/migration/steps';
import type { Sent } from '../../client';
import { parseTime } from '../terminal/times';
import { wordOption } from './options';

/** Who decides: said on the command line, because support also records what the client has decided. */
export interface SenderOptions {
  readonly as: Role;
  readonly by: string;
  readonly reason?: string;
  readonly validUntil?: string;
}

/** Options of a command that supplies or decides something. */
export function addSender(command: Command): Command {
  return command
    .addOption(wordOption('--as <role>', 'whose decision it is', ROLES).default('support'))
    .option('--by <name>', `the person who decides ${BY_DEFAULT}`);
}

/** Who that is without a `--by`, as {@link addDefaultName} makes it. */
export const BY_DEFAULT = '(default: whose signing key it is, else the user of this machine)';

/**
 * Every command with a `--by` has a name from then on: who has a signing key decides in the name that it holds, so that
 * what they decide is signed.
 */
export function addDefaultName(program: Command, env: NodeJS.ProcessEnv): void {
  program.hook('preAction', (_, command) => {
    const isAsked = command.options.some((option) => option.attributeName() === 'by');
    if (!isAsked || command.getOptionValue('by') !== undefined) return;
    const { signingKey } = loadConfig([], env, ['signingKey']);
    command.setOptionValueWithSource('by', signingKey?.by ?? userInfo().username, 'default');
  });
}

/** Options of a command that decides something. */
export function addDecider(command: Command, reason: 'reason needed' | 'reason possible' = 'reason possible'): Command {
  if (reason === 'reason needed') command.requiredOption('--reason <text>', 'why');
  else command.option('--reason <text>', 'why');
  return addSender(command).option(
    '--valid-until <time>',
    'refuse it when no worker has applied it by then: "2026-11-21 22:00" in your time zone, or ISO 8601',
  );
}

export function senderOf({ as, by }: Pick<SenderOptions, 'as' | 'by'>): { role: Role; by: string } {
  return { role: as, by };
}

/** What every decision carries. */
export function sentBy(options: SenderOptions): Sent {
  const { reason, validUntil } = options;
  return {
    ...senderOf(options),
    ...(reason === undefined ? {} : { reason }),
    ...(validUntil === undefined ? {} : { validUntil: parseTime(validUntil).toISOString() }),
  };
}
