import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import { createMasterKeyProvider } from '../../../security';
import { openDatabase, rotateVaults } from '../../../store';
import type { CommandResult } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import type { Context } from '../../shared/context';

/** `ferry vault`: manages the encryption of vault keys. Needs the master key. */
export function addVault({ program, run, terminal }: Context): void {
  const vault = program.command('vault').description('Manage the keys that protect stored credentials');
  vault
    .command('rotate')
    .description(
      'Re-encrypt the keys of all open vaults with the newest master key (the first in TOKENFERRY_MASTER_KEY), so that older ones can be removed',
    )
    .action(() => run(() => rotate(terminal.env)));
}

async function rotate(env: NodeJS.ProcessEnv): Promise<CommandResult> {
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
          `The keys of ${counted(rewrapped, 'vault')} were re-encrypted with master key ${masterKeys.newest.id}; ${counted(unchanged, 'vault')} already used this master key.`,
        );
        output.line('This database no longer needs older master keys. Its backups still do.');
      },
    };
  } finally {
    await db.destroy();
  }
}
