import { CommandFailed } from '../../shared/command-failed';
import { runDashboard } from '../../dashboard';
import type { Shown } from '../../terminal';
import type { Context } from '../../shared/context';
import type { SenderOptions } from '../../shared/sender';
import { addSender, senderOf } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

/** `ferry desk`: all open migrations on one live screen. */
export function addDesk({ program, run, screen, terminal }: Context): void {
  addSender(
    program
      .command('desk')
      .description('See all open migrations on one live screen; open, approve, reject, pause and retry with keys'),
  ).action((options: SenderOptions) =>
    run(async (): Promise<Shown> => {
      const { prompts, keyboard, env } = terminal;
      if (!prompts || !keyboard || screen.json || env['TERM'] === 'dumb') {
        throw new CommandFailed('the desk needs a terminal', 'where there is none, use: ferry list --json');
      }
      const sender = senderOf(options);
      await withLedgerClient(env, (ferry) => runDashboard({ ferry, terminal, prompts, keyboard, ...sender }));
      return { shown: true };
    }),
  );
}
