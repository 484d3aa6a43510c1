import { CommandFailed } from '../../shared/command-failed';
import { runDashboard } from '../../dashboard';
import type { AlreadyWritten } from '../../terminal';
import type { Context } from '../../shared/context';
import type { SenderOptions } from '../../shared/sender';
import { addSender, senderOf } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

/** `ferry desk`: all open migrations on one live screen. */
export function addDesk({ program, run, output, terminal }: Context): void {
  addSender(
    program
      .command('desk')
      .description('See all open migrations on one live screen; open, approve, reject, pause and retry with keys'),
  ).action((options: SenderOptions) =>
    run(async (): Promise<AlreadyWritten> => {
      const { prompts, keyboard, env } = terminal;
      if (!prompts || !keyboard || output.json || env['TERM'] === 'dumb') {
        throw new CommandFailed('the desk needs a terminal', 'otherwise use: ferry list --json');
      }
      const sender = senderOf(options);
      await withLedgerClient(env, (ferry) => runDashboard({ ferry, terminal, prompts, keyboard, ...sender }));
      return { written: true };
    }),
  );
}
