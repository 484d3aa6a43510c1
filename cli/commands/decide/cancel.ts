import { readProgressIfAnswered } from '../../../client';
import type { CommandResult, Output } from '../../terminal/output';
import { withMigrationClient } from '../../shared/clients';
import type { Context, YesOption } from '../../shared/context';
import { addYesOption, confirm } from '../../shared/context';
import { endingConsequence } from '../../shared/consequences';
import type { DecisionOptions } from '../../shared/decisions';
import { addDecisionOptions, contentFrom, sendDecision } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';

type CancelOptions = DecisionOptions & YesOption;

/** `ferry cancel`: asks first, because a cancelled migration cannot be resumed. */
export function addCancel({ program, run, output, terminal, now }: Context): void {
  const command = program
    .command('cancel <migration>')
    .description('End a migration for good; companies that have been moved stay moved');
  addYesOption(addDecisionOptions(command, now, 'reason required')).action(
    (migration: string, options: CancelOptions) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const question = `Cancel ${migration} for good?`;
          const consequence = options.yes ? null : endingConsequence(await readProgressIfAnswered(ferry, migration));
          if (!(await confirm({ output, terminal }, options, { question, consequence }))) {
            throw new CommandFailed(
              'nothing was cancelled',
              `to stop moves for a while, run: ferry pause ${migration}`,
            );
          }
          const result = await sendDecision(ferry, migration, 'cancel', contentFrom(options));
          return result.failed ? result : { ...result, print: () => printCancelled(output, result, migration) };
        }),
      ),
  );
}

function printCancelled(output: Output, { print }: CommandResult, migrationId: string): void {
  print(output);
  output.line('  Moves in progress will be completed first. To see which companies were moved, and which companies');
  output.line(`  the client can sync again in its own application, run: ferry report ${migrationId}`);
}
