import { CommandFailed } from '../../shared/errors';
import type { Context } from '../../shared/context';
import type { LimitOptions } from '../../shared/limit-options';
import { addLimitOptions, limitsFrom } from '../../shared/limit-options';
import { sendDecision, addDecisionOptions, contentFrom } from '../../shared/decisions';
import type { DecisionOptions } from '../../shared/decisions';
import { withMigrationClient } from '../../shared/clients';

/** `ferry adjust`: changes the limits of a migration, also of what is under way. */
export function addAdjust({ program, run, terminal }: Context): void {
  addDecisionOptions(
    addLimitOptions(
      program.command('adjust <migration>').description('Change the limits of a migration, also of what is under way'),
    ),
  ).action((migration: string, options: LimitOptions & DecisionOptions) =>
    run(() => {
      const limits = limitsFrom(options);
      if (Object.keys(limits).length === 0) {
        throw new CommandFailed('no limit was named', 'see them all with: ferry adjust --help');
      }
      return withMigrationClient(terminal.env, (ferry) =>
        sendDecision(ferry, migration, 'adjust', { limits, ...contentFrom(options) }),
      );
    }),
  );
}
