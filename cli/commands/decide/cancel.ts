import { CommandFailed } from '../../shared/command-failed';
import type { MigrationClient } from '../../../client';
import { progressIfAnswered } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import type { Context } from '../../shared/context';
import { send } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import type { YesOption } from '../../shared/confirm';
import { confirm } from '../../shared/confirm';
import { withMigrationClient } from '../../shared/with-ferry';

type CancelOptions = SenderOptions & YesOption;

/** `ferry cancel`: nothing brings a cancelled migration back, so that on a terminal it is asked for once more. */
export function addCancel({ program, run, output, terminal }: Context): void {
  addDecider(
    program.command('cancel <migration>').description('End a migration for ever; what has been moved stays moved'),
    'reason needed',
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
          const answer = await send(ferry, migration, 'cancel', sentBy(options));
          return answer.failed ? answer : { ...answer, print: () => printCancelled(output, answer, migration) };
        }),
      ),
    );
}

async function showWhatEnds(ferry: MigrationClient, output: Output, migrationId: string): Promise<void> {
  const progress = await progressIfAnswered(ferry, migrationId);
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
