import { isOver } from '../../../domain/migration/terminated';
import { pausesIn } from '../../../domain/progress/progress';
import { actualWaitingFor } from '../../../domain/progress/ledger-behind';
import { meanwhileTask, withKeysToConfirm } from '../../../domain/progress/meanwhile';
import { watchMigration, type WatchEnd, type WatchOptions } from '../../reporting/watch';
import { withMigrationClient } from '../../connections/clients';
import type { Context } from '../../shared/context';
import type { CommandResult } from '../../terminal/output';

/** `ferry watch`: shows a migration live until it has ended or, with `--until-decision`, until a person must act. */
export function addWatch(context: Context): void {
  context.program
    .command('watch <migration>')
    .description('Watch a migration until it ends. The exit code is 1 if it ends without being completed')
    .option('--until-decision', 'also stop when a person must act')
    .action((migration: string, options: WatchOptions) =>
      context.run(() =>
        withMigrationClient(context.terminal.env, async (ferry, followStack) =>
          watchResult(await watchMigration(context, { ferry, followStack }, migration, options)),
        ),
      ),
    );
}

function watchResult({ progress, keysToConfirm, ledgerBehind, print }: WatchEnd): CommandResult {
  const { migrationId, state, step, counts, pause } = progress;
  const pauses = pausesIn(progress);
  return {
    failed: state !== 'completed' && isOver(state),
    json: {
      ...{ schema: 'ferry.watch/1', migrationId, state, step, waitingFor: actualWaitingFor(progress, ledgerBehind) },
      meanwhile:
        state === 'terminated' || ledgerBehind ? null : withKeysToConfirm(meanwhileTask(progress), keysToConfirm),
      ...{ counts, pause, pauses },
    },
    print,
  };
}
