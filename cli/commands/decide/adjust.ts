import { CommandFailed } from '../../shared/command-failed';
import type { Context } from '../../shared/context';
import type { LimitOptions } from '../../shared/limit-options';
import { addLimits, limitsOf } from '../../shared/limit-options';
import { send } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import { withMigrationClient } from '../../shared/with-ferry';

/** `ferry adjust`: changes the limits of a migration, also of what is under way. */
export function addAdjust({ program, run, terminal }: Context): void {
  addDecider(
    addLimits(
      program.command('adjust <migration>').description('Change the limits of a migration, also of what is under way'),
    ),
  ).action((migration: string, options: LimitOptions & SenderOptions) =>
    run(() => {
      const limits = limitsOf(options);
      if (Object.keys(limits).length === 0) {
        throw new CommandFailed('no limit was named', 'see them all with: ferry adjust --help');
      }
      return withMigrationClient(terminal.env, (ferry) =>
        send(ferry, migration, 'adjust', { limits, ...sentBy(options) }),
      );
    }),
  );
}
