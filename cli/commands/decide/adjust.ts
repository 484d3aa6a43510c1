import { limitLines } from '../../../domain/planning/limit-texts';
import { NoSuchMigration, type MigrationClient } from '../../../client';
import { readLimits, readMigration } from '../../../store';
import { withMigrationClient } from '../../connections/clients';
import type { Context } from '../../shared/context';
import { addDecisionOptions, contentFrom, sendDecision, type DecisionOptions } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { addLimitOptions, limitsFrom, type LimitOptions } from '../../options/limit-options';
import type { CommandResult } from '../../terminal/output';

/** `ferry adjust`: changes the limits of a migration, including those of a batch run in progress. */
export function addAdjust({ program, run, terminal, now }: Context): void {
  addDecisionOptions(
    addLimitOptions(
      program
        .command('adjust <migration>')
        .description('Change the limits of a migration, even while companies are being moved'),
    ),
    now,
  ).action((migration: string, options: LimitOptions & DecisionOptions) =>
    run(() => {
      const limits = limitsFrom(options);
      return withMigrationClient(terminal.env, async (ferry) => {
        if (Object.keys(limits).length === 0) return withoutLimit(ferry, migration);
        return sendDecision(ferry, migration, 'adjust', { limits, ...contentFrom(options) });
      });
    }),
  );
}

/** Lists the limits in effect, which the ledger stores. The command fails, because it has changed nothing. */
async function withoutLimit({ db }: MigrationClient, migrationId: string): Promise<CommandResult> {
  const why = 'no limit was specified';
  const advice = 'list the options that change a limit with: ferry adjust --help';
  if (!db) throw new CommandFailed(why, advice);
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const { limits } = await readLimits(db, migrationId);
  return {
    failed: true,
    json: { schema: 'ferry.limits/1', migrationId, limits },
    print: (output) => {
      output.line(`Limits of ${migrationId}:`);
      for (const line of limitLines(limits, migration.route)) output.line(`  ${line}`);
      output.warn(`${why}; ${advice}`);
    },
  };
}
