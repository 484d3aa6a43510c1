import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { Role } from '../../domain/steps';
import { isRole, ROLES } from '../../domain/steps';
import { CommandFailed } from '../command-failed';

/** Who decides: said on the command line, because support also records what the client has decided. */
export interface SenderOptions {
  readonly as: string;
  readonly by?: string;
}

export function addSender(command: Command): Command {
  return command
    .addOption(new Option('--as <role>', 'whose decision it is: client or support').default('support'))
    .option('--by <name>', 'the person who decides (default: the user of this machine)');
}

export function senderOf(options: SenderOptions): { role: Role; by: string } {
  if (!isRole(options.as)) {
    throw new CommandFailed(`there is no role ${options.as}`, `roles are: ${ROLES.join(', ')}`);
  }
  return { role: options.as, by: options.by ?? userInfo().username };
}
