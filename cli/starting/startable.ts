/** What the commands share that start a migration, whichever route it takes. */
import type { LimitsChange } from '../../domain/planning/limits';
import { parseLimits } from '../../domain/planning/limits';
import type { Platform, Route } from '../../platforms/platforms';
import { isIdWord } from '../../domain/migration/temporal-names';
import { CommandFailed } from '../shared/command-failed';
import type { LimitOptions } from '../shared/limit-options';
import { limitsOf } from '../shared/limit-options';

export interface Startable {
  readonly platform: Platform;
  readonly client: string;
  readonly label?: string;
}

/** @throws CommandFailed when no id can be made, or the platform is moved by the other route alone */
export function assertStartable({ client, label, platform }: Startable, route: Route): void {
  for (const [option, word] of [
    ['--client', client],
    ['--label', label],
  ] as const) {
    if (word !== undefined && !isIdWord(word)) {
      throw new CommandFailed(
        `${option} ${word} cannot be part of an id`,
        'use lower-case letters, digits and hyphens',
      );
    }
  }
  if (platform.routes.includes(route)) return;
  throw route === 'managed'
    ? new CommandFailed(
        `${platform.name} has no managed route`,
        `its connections are moved by the self-service route: ferry self-service FILE --platform ${platform.slug} --client ${client}`,
      )
    : new CommandFailed(
        `${platform.name} has only the managed route: the service takes its authorizations from the provider alone`,
        `the provider moves its connections with: ferry start FILE --platform ${platform.slug} --client ${client}`,
      );
}

/** What commander cannot know: whether a number is one that the limit may have. */
export function limitsRead(options: LimitOptions): LimitsChange {
  const limits = limitsOf(options);
  if (Object.keys(limits).length === 0) return {};
  const read = parseLimits(limits);
  if ('malformed' in read) throw new CommandFailed(read.malformed, 'nothing was started');
  return read.limits;
}
