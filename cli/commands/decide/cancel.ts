import { readProgressIfAnswered } from '../../../client';
import { isOver } from '../../../domain/migration/terminated';
import type { Progress } from '../../../domain/progress/progress';
import { withMigrationClient } from '../../connections/clients';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { endingConsequence, inFlightIn } from '../../shared/consequences';
import { addDecisionOptions, contentFrom, sendDecision, type DecisionOptions } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { withMoreText, type Output } from '../../terminal/output';

type CancelOptions = DecisionOptions & YesOption;

/** `ferry cancel`: asks first, because a cancelled migration cannot be resumed. */
export function addCancel({ program, run, output, terminal, now }: Context): void {
  const command = program
    .command('cancel <migration>')
    .description('End a migration for good; companies that have been moved stay moved');
  addYesOption(addDecisionOptions(command, now, 'required')).action((migration: string, options: CancelOptions) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        const question = `Cancel ${migration} for good?`;
        const progress = await readProgressIfAnswered(ferry, migration);
        const consequence = endingConsequence(progress);
        // The migration will refuse the decision, so the answer to the question would make no difference.
        const isRefused = progress !== undefined && isOver(progress.state);
        if (!isRefused && !(await confirm({ output, terminal }, options, { question, consequence }))) {
          throw new CommandFailed(
            'nothing was cancelled',
            progress?.state === 'paused'
              ? `the migration stays paused; to see its state, run: ferry show ${migration}`
              : `to stop moves for a while, run: ferry pause ${migration}`,
          );
        }
        const result = await sendDecision(ferry, migration, 'cancel', contentFrom(options));
        return result.failed ? result : withMoreText(result, () => printCancelled(output, migration, progress));
      }),
    ),
  );
}

function printCancelled(output: Output, migrationId: string, progress: Progress | undefined): void {
  if (progress === undefined)
    output.line('  If a credential has already been handed over, its company is still checked to the end.');
  else if (inFlightIn(progress) > 0)
    output.line('  Companies whose credentials have already been handed over are still checked to the end.');
  output.line('  To see which companies were moved, and which companies');
  output.line(`  the client can sync again in its own application, run: ferry report ${migrationId}`);
}
