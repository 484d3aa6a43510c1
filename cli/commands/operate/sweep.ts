import { closeTerminated, sweep } from '../../../client';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';
import { DEFAULT_BY } from '../../shared/decisions';
import { withLedgerClient } from '../../shared/clients';

interface SweepOptions {
  readonly close?: true;
  readonly by: string;
}

/** `ferry sweep`: cleans up after migrations that were terminated in Temporal. */
export function addSweep({ program, run, terminal }: Context): void {
  program
    .command('sweep')
    .description("Clean up after migrations that were terminated with Temporal's own tools")
    .option(
      '--close',
      'close them like cancelled migrations: release their organizations and destroy their credentials',
    )
    .option('--by <name>', `name of the person who closes them ${DEFAULT_BY}`)
    .action((options: SweepOptions) => run(() => runSweep(terminal.env, options)));
}

async function runSweep(env: NodeJS.ProcessEnv, { by, close }: SweepOptions): Promise<CommandResult> {
  return withLedgerClient(env, async (ferry) => {
    const { schedulesDeleted, open } = await sweep(ferry);
    const closed: string[] = [];
    const closing: string[] = [];
    for (const migrationId of close ? open : []) {
      ((await closeTerminated(ferry, migrationId, by)) ? closed : closing).push(migrationId);
    }
    const stillOpen = close ? [] : open;
    return {
      json: { schema: 'ferry.sweep/1', schedulesDeleted, closed, closing, open: stillOpen },
      printQuietly: (output) => {
        for (const id of stillOpen) output.line(id);
      },
      print: (output) => {
        for (const id of schedulesDeleted) output.line(`Deleted the schedule of ${id}.`);
        for (const id of closed) output.line(`Closed ${id}. See its outcome with: ferry report ${id}`);
        for (const id of closing) output.line(`${id} will be closed once none of its requests can still be in flight.`);
        for (const id of stillOpen) {
          output.line(
            `${id} is not running in Temporal but is still open: it blocks its organizations and keeps its credentials.`,
          );
          output.line('  Close it like a cancelled migration with: ferry sweep --close');
        }
        if (schedulesDeleted.length + open.length === 0) output.line('Nothing to clean up.');
      },
    };
  });
}
