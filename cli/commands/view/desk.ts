import { CommandFailed } from '../../shared/errors';
import { runDashboard } from '../../dashboard';
import type { AlreadyWritten } from '../../terminal/output';
import type { Context } from '../../shared/context';
import { addActorOptions, actorFrom, type ActorOptions } from '../../shared/decisions';
import { withLedgerClient } from '../../connections/clients';

export function addDesk({ program, run, output, terminal }: Context): void {
  addActorOptions(
    program
      .command('desk')
      .description(
        'Show the dashboard: all open migrations on one live screen, with keyboard shortcuts to approve, reject, pause and retry',
      ),
  ).action((options: ActorOptions) =>
    run(async (): Promise<AlreadyWritten> => {
      const { prompts, keyboard, env } = terminal;
      if (output.json)
        throw new CommandFailed('the dashboard does not work with --json', 'use this instead: ferry list --json');
      if (!prompts || !keyboard || env['TERM'] === 'dumb')
        throw new CommandFailed(
          'the dashboard needs a terminal that can position the cursor',
          'use this instead: ferry list',
        );
      const actor = actorFrom(options);
      await withLedgerClient(env, (ferry, followStack) =>
        runDashboard({ ferry, followStack, terminal, prompts, keyboard, ...actor }),
      );
      return { written: true };
    }),
  );
}
