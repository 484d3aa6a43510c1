import { CommandFailed } from '../../shared/errors';
import { runDashboard } from '../../dashboard';
import type { Shown } from '../../terminal';
import type { Context } from '../../shared/context';
import type { DecisionOptions } from '../../shared/decisions';
import { addActorOptions, actorFrom } from '../../shared/decisions';
import { withLedgerClient } from '../../shared/clients';

/** `ferry desk`: all open migrations on one live screen. */
export function addDesk({ program, run, output, terminal }: Context): void {
  addActorOptions(
    program
      .command('desk')
      .description('See all open migrations on one live screen; open, approve, reject, pause and retry with keys'),
  ).action((options: DecisionOptions) =>
    run(async (): Promise<Shown> => {
      const { prompts, keyboard, env } = terminal;
      if (!prompts || !keyboard || output.json || env['TERM'] === 'dumb') {
        throw new CommandFailed('the desk needs a terminal', 'where there is none, use: ferry list --json');
      }
      const sender = actorFrom(options);
      await withLedgerClient(env, (ferry) => runDashboard({ ferry, terminal, prompts, keyboard, ...sender }));
      return { shown: true };
    }),
  );
}
