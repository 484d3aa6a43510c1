import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import { createMasterKeyProvider } from '../../../security';
import { openDatabase, rotateVaults } from '../../../store';
import type { CommandResult } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import type { Context } from '../../shared/context';

/** `ferry vault`: the keys above the sealed credentials. For whoever holds the master key. */
export function addVault({ program, run, terminal }: Context): void {
  const vault = program.command('vault').description('The keys above the sealed credentials');
  vault
    .command('rotate')
    .description(
      'Put every open vault under the newest master key (the first of TOKENFERRY_MASTER_KEY); then the older ones can go',
    )
    .action(() => run(() => rotated(terminal.env)));
}

async function rotated(env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { databaseUrl, masterKeys } = loadConfig(['databaseUrl', 'masterKeys'], env);
  const db = await openDatabase({ url: databaseUrl.reveal(), connections: 1 });
  try {
    const rotation = await rotateVaults(db, createMasterKeyProvider(masterKeys));
    const { rewrapped, unchanged } = rotation;
    return {
      json: { schema: 'ferry.vault-rotation/1', keyId: masterKeys.newest.id, ...rotation },
      printQuietly: PRINT_NOTHING,
      print: (output) => {
        output.line(
          `${counted(rewrapped, 'vault')} put under master key ${masterKeys.newest.id}, ${unchanged} were before.`,
        );
        output.line('Older master keys open nothing in this database any more; backups of it still need them.');
      },
    };
  } finally {
    await db.destroy();
  }
}
