import { CommandFailed } from '../../shared/errors';
import { runDashboard } from '../../dashboard';
import type { AlreadyWritten } from '../../terminal';
import type { Context } from '../../shared/context';
import type { ActorOptions } from '../../shared/decisions';
import { addActorOptions, actorFrom } from '../../shared/decisions';
import { withLedgerClient } from '../../shared/clients';

/** `ferry desk`: shows all open migrations on one live screen. */
export function addDesk({ program, run, output, terminal }: Context): void {
  addActorOptions(
    program
      .command('desk')
      .description('Show all open migrations on one live screen; open, approve, reject, pause and retry with keys'),
  ).action((options: ActorOptions) =>
    run(async (): Promise<AlreadyWritten> => {
      const { prompts, keyboard, env } = terminal;
      if (!prompts || !keyboard || output.json || env['TERM'] === 'dumb') {
        throw new CommandFailed('the desk needs a terminal', 'otherwise use: ferry list --json');
      }
      const actor = actorFrom(options);
      await withLedgerClient(env, (ferry) => runDashboard({ ferry, terminal, prompts, keyboard, ...actor }));
      return { written: true };
    }),
  );
}
