import { closeTerminated, sweep } from '../../../client';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';
import { BY_DEFAULT } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

interface SweepOptions {
  readonly close?: true;
  readonly by: string;
}

/** `ferry sweep`: what terminated migrations have left behind. */
export function addSweep({ program, run, terminal }: Context): void {
  program
    .command('sweep')
    .description(
      "Tidy up after migrations that were terminated with Temporal's own tools: schedules, and what is still open",
    )
    .option('--close', 'close them as if cancelled: organizations are free again, credentials destroyed')
    .option('--by <name>', `who closes them ${BY_DEFAULT}`)
    .action((options: SweepOptions) => run(() => swept(terminal.env, options)));
}

async function swept(env: NodeJS.ProcessEnv, { by, close }: SweepOptions): Promise<CommandResult> {
  return withLedgerClient(env, async (ferry) => {
    const { schedulesDeleted, open } = await sweep(ferry);
    const closed: string[] = [];
    const closing: string[] = [];
    for (const migrationId of close ? open : []) {
      ((await closeTerminated(ferry, migrationId, by)) ? closed : closing).push(migrationId);
    }
    const left = close ? [] : open;
    return {
      json: { schema: 'ferry.sweep/1', schedulesDeleted, closed, closing, open: left },
      printQuietly: (output) => {
        for (const id of left) output.line(id);
      },
      print: (output) => {
        for (const id of schedulesDeleted) output.line(`The schedule of ${id} is deleted.`);
        for (const id of closed) output.line(`${id} is closed; what became of it: ferry report ${id}`);
        for (const id of closing) output.line(`${id} is closed as soon as nothing of it can be on its way any more.`);
        for (const id of left) {
          output.line(`${id} was terminated, and is still open: its organizations are taken, its credentials kept.`);
          output.line('  Close it as if cancelled with: ferry sweep --close');
        }
        if (schedulesDeleted.length + open.length === 0) output.line('Nothing is left behind.');
      },
    };
  });
}
