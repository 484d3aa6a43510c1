import { CommandFailed } from '../../shared/errors';
import type { MigrationClient } from '../../../client';
import { readProgressIfAnswered } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import type { Context, YesOption } from '../../shared/context';
import { sendDecision, addDecisionOptions, contentFrom } from '../../shared/decisions';
import type { DecisionOptions } from '../../shared/decisions';
import { confirm } from '../../shared/context';
import { withMigrationClient } from '../../shared/clients';

type CancelOptions = DecisionOptions & YesOption;

/** `ferry cancel`: nothing brings a cancelled migration back, so that on a terminal it is asked for once more. */
export function addCancel({ program, run, output, terminal }: Context): void {
  addDecisionOptions(
    program.command('cancel <migration>').description('End a migration for ever; what has been moved stays moved'),
    'reason required',
  )
    .option('--yes', 'do not ask')
    .action((migration: string, options: CancelOptions) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const question = `Cancel ${migration} for ever?`;
          const show = () => showWhatEnds(ferry, output, migration);
          if (!(await confirm({ output, terminal }, options, question, show))) {
            throw new CommandFailed('nothing was cancelled', `to stop it for a while: ferry pause ${migration}`);
          }
          const answer = await sendDecision(ferry, migration, 'cancel', contentFrom(options));
          return answer.failed ? answer : { ...answer, print: () => printCancelled(output, answer, migration) };
        }),
      ),
    );
}

async function showWhatEnds(ferry: MigrationClient, output: Output, migrationId: string): Promise<void> {
  const progress = await readProgressIfAnswered(ferry, migrationId);
  if (progress)
    output.line(`${progress.counts.migrated} of ${progress.counts.total} companies are moved, and stay moved.`);
  output.line('No other is started, and every credential that was supplied is destroyed.');
}

function printCancelled(output: Output, { print }: CommandResult, migrationId: string): void {
  print(output);
  output.line(
    '  Companies that are on their way are finished first. Which have been handed over, which have not, and what',
  );
  output.line(`  the client may switch on again: ferry report ${migrationId}`);
}
