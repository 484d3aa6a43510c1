import { findUnknown } from '../../store';
import { CommandFailed } from '../command-failed';
import { decide } from '../ferry';
import { MOST_COMPANIES_IN_A_MESSAGE } from '../../domain/read-decision';
import type { CommandResult } from '../screen';
import type { Context } from './context';
import { send } from './decisions';
import type { SenderOptions } from './sender';
import { addSender, senderOf } from './sender';
import { withFerry } from './with-ferry';

/** `ferry confirm-sync-disabled`: the client's word, company by company or for all. */
export function addConfirmSyncDisabled({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('confirm-sync-disabled <migration> [references...]')
      .description("Confirm that the client's own application no longer uses the tokens of these companies")
      .option('--all', 'of all companies of the manifest'),
  ).action((migration: string, references: string[], options: SenderOptions & { all?: true }) =>
    run(() => confirm(terminal.env, migration, references, options)),
  );
}

async function confirm(
  env: NodeJS.ProcessEnv,
  migrationId: string,
  references: readonly string[],
  options: SenderOptions & { all?: true },
): Promise<CommandResult> {
  const sender = senderOf(options);
  if (options.all === undefined && references.length === 0) {
    throw new CommandFailed('no company was named', 'name their references, or say --all');
  }
  return withFerry(env, async (ferry) => {
    if (options.all) return send(ferry, migrationId, 'confirmSyncDisabled', { companies: 'all', ...sender });
    const unknown = await findUnknown(ferry.db, migrationId, references);
    if (unknown.length > 0) {
      throw new CommandFailed(
        `${migrationId} has no company ${unknown.slice(0, 5).join(', ')}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''}`,
        `nothing was confirmed; see: ferry companies ${migrationId}`,
      );
    }
    // All but the last message are sent ahead; the answer to the last one is the answer.
    let from = 0;
    for (; references.length - from > MOST_COMPANIES_IN_A_MESSAGE; from += MOST_COMPANIES_IN_A_MESSAGE) {
      const companies = references.slice(from, from + MOST_COMPANIES_IN_A_MESSAGE);
      await decide(ferry, migrationId, 'confirmSyncDisabled', { companies, ...sender });
    }
    const answer = await send(ferry, migrationId, 'confirmSyncDisabled', {
      companies: references.slice(from),
      ...sender,
    });
    return { ...answer, json: { ...answer.json, companies: references.length } };
  });
}
