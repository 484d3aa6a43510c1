import { NoSuchMigration } from '../../../client';
import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import {
  createVaultKeyWrapper,
  createVaultSecretFolder,
  providerFingerprintOfMasterKeys,
  type VaultKeyWrapper,
  type KeyRing,
} from '../../../security';
import { openDatabase, readConfirmers, readMigration, renewVault, rotateVaults, type Database } from '../../../store';
import { PRINT_NOTHING, type CommandResult } from '../../terminal/output';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { clientCommand, readClientPortal } from '../../connections/client-portal';
import { CommandFailed } from '../../shared/errors';
import { clientRemedyCommand, remedyCommand } from '../../suggestions/remedy-commands';

interface RenewOptions extends YesOption {
  readonly folderLost?: true;
  readonly keyLost?: true;
}

/**
 * `ferry vault`: manages the encryption of vault keys. Needs the master key; `rotate` and `renew` also need the ledger
 * and the folder of the vault secrets.
 */
export function addVault({ program, run, terminal, output }: Context): void {
  const vault = program.command('vault').description('Manage the keys that protect stored credentials');
  vault
    .command('rotate')
    .description(
      'Re-encrypt the vault keys of all migrations that have not ended, so that older master keys no longer open them. The new encryption uses the first key in TOKENFERRY_MASTER_KEY or TOKENFERRY_MASTER_KEY_FILE',
    )
    .action(() => run(() => withVaults(terminal.env, rotate)));
  vault
    .command('fingerprint')
    .description(
      'Print the fingerprint of the key that signs migration keys. Publish the fingerprint, so that clients can verify migration keys before they seal anything',
    )
    .action(() => run(async () => fingerprint(loadConfig(['masterKeys'], terminal.env).masterKeys)));
  addYesOption(
    vault
      .command('renew <migration>')
      .description(
        'Create a new key for a vault that can no longer be opened, so that the client can supply its credentials again',
      ),
  )
    .option(
      '--folder-lost',
      "confirm that the folder with the vault's secret (TOKENFERRY_VAULT_SECRETS) is lost, and not just missing on this machine",
    )
    .option(
      '--key-lost',
      "confirm that the master key of the vault is lost, and not just missing on this machine; without this option, the command names the key's id",
    )
    .action((migration: string, options: RenewOptions) =>
      run(async () => {
        const question = `Renew the vault of ${migration}?`;
        const consequence = `credentials of companies that are waiting to be moved will be deleted, unless they replace another credential or might have been used. Credentials whose decision has not been applied yet, and client secrets that are not registered yet, will also be deleted. All other credentials are kept as a record, but can no longer be opened`;
        const notDone = 'the vault was not renewed';
        if (!(await confirm({ output, terminal }, options, { question, consequence, notDone }))) {
          throw new CommandFailed(notDone, 'if you still have the missing key or folder, restore it instead');
        }
        return withVaults(terminal.env, (db, keys, portalUrl) => renew(db, keys, migration, { ...options, portalUrl }));
      }),
    );
}

async function withVaults(
  env: NodeJS.ProcessEnv,
  work: (db: Database, keys: VaultKeyWrapper, portalUrl: string | undefined) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { databaseUrl, masterKeys, vaultSecrets, portalUrl } = loadConfig(
    ['databaseUrl', 'masterKeys', 'vaultSecrets'],
    env,
    ['portalUrl'],
  );
  const db = await openDatabase({ url: databaseUrl.reveal(), connections: 1 });
  try {
    return await work(db, createVaultKeyWrapper(masterKeys, createVaultSecretFolder(vaultSecrets)), portalUrl);
  } finally {
    await db.destroy();
  }
}

function fingerprint(masterKeys: KeyRing): CommandResult {
  const text = providerFingerprintOfMasterKeys(masterKeys);
  return {
    json: { schema: 'ferry.provider-fingerprint/1', fingerprint: text },
    printQuietly: (output) => output.line(text),
    print: (output) => {
      output.line(`Fingerprint of your provider key: ${text}`);
      output.line('Publish the fingerprint where clients find it without asking you, for example on your website.');
      output.line('For everyone who runs ferry, set TOKENFERRY_PROVIDER_FINGERPRINT to this fingerprint.');
      output.line('A new master key changes the fingerprint. Publish and set the new fingerprint then.');
    },
  };
}

async function rotate(db: Database, keys: VaultKeyWrapper): Promise<CommandResult> {
  const rotation = await rotateVaults(db, keys);
  const { rewrapped, unchanged, lost } = rotation;
  return {
    json: { schema: 'ferry.vault-rotation/1', keyId: keys.newestKeyId, ...rotation },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      output.line(
        `The keys of ${counted(rewrapped, 'vault')} were re-encrypted with master key ${keys.newestKeyId}; ${counted(unchanged, 'vault')} already used this master key.`,
      );
      if (rewrapped > 0) {
        const what = lost.length === 0 ? 'anything' : 'these vaults';
        output.line(
          `The old secrets of these vaults were erased. Older master keys no longer open ${what} in this database,`,
        );
        output.line('its files, its log or its backups, unless someone has copied an old secret.');
        output.line('Back up the database now: credentials in an older backup can no longer be opened.');
      }
      // A vault without its secret stays wrapped with the master key that it had.
      if (lost.length > 0)
        output.line(
          'Keep older master keys until the following vaults have been restored and rotated, or have been renewed.',
        );
      for (const id of lost) {
        output.line(
          `${output.styled('yellow', '!')} The vault secret of ${id} is missing, so its credentials cannot be opened.`,
        );
        output.line(
          '  If you still have the secret, restore its file in the folder TOKENFERRY_VAULT_SECRETS, and run: ferry vault rotate',
        );
        output.line(
          `  Otherwise, pause the migration with: ferry pause ${id}; wait a minute, and renew the vault with: ferry vault renew ${id}`,
        );
      }
    },
  };
}

async function renew(
  db: Database,
  keys: VaultKeyWrapper,
  migration: string,
  { folderLost, keyLost, portalUrl }: RenewOptions & { readonly portalUrl: string | undefined },
): Promise<CommandResult> {
  const stored = await readMigration(db, migration);
  if (!stored) throw new NoSuchMigration(migration);
  // On such a platform, a credential is stored only if it was obtained after the confirmation of its company.
  const isTooEarly = stored.rotating && (await readConfirmers(db, migration, 1)).people === 0;
  const renewal = await renewVault(db, keys, migration, {
    folderLost: folderLost === true,
    keyLost: keyLost === true,
  });
  const { deleted, deletedReplacements, kept, keptWaiting, deletedSecrets } = renewal;
  const portal = await readClientPortal({ db, portalUrl }, migration);
  const target = { ...stored, application: null };
  const byClient = (remedy: 'application' | 'credentials' | 'replace-credential'): string =>
    clientCommand(clientRemedyCommand(remedy, target, []), portal);
  const replace = clientCommand(remedyCommand('replace-credential', target, []), portal);
  return {
    json: { schema: 'ferry.vault-renewal/1', migration, ...renewal },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      output.line(`The vault of ${migration} has a new key. ${counted(deleted, 'credential')} deleted.`);
      if (kept > 0) {
        output.line(
          `${counted(kept, 'credential')} ${kept === 1 ? 'was' : 'were'} kept as a record, but can no longer be opened. A credential is kept if its company is no longer waiting to be moved, if it might have been used, or if it replaces another credential.`,
        );
      }
      if (stored.state === 'closed') {
        output.line(
          'The migration has ended, so nothing has to be supplied again. A worker destroys the remaining credentials.',
        );
        return;
      }
      if (deletedSecrets > 0) {
        output.line(
          `The client secret that the client had sealed was also deleted, before it was registered. Have the client supply its application again with: ${byClient('application')}`,
        );
      }
      if (keptWaiting > 0) {
        const [belong, was, it] =
          keptWaiting === 1
            ? ['belongs to a company that is', 'was', 'it']
            : ['belong to companies that are', 'were', 'they'];
        output.line(
          `${counted(keptWaiting, 'kept credential')} ${belong} waiting to be moved, and ${was} not sent yet, so ${it} must be supplied again.`,
        );
      }
      const what =
        deleted > deletedReplacements || keptWaiting > 0
          ? 'Have the client export its credentials again, and supply them'
          : 'If a company that is waiting to be moved has no credential, have the client supply one';
      output.line(
        isTooEarly
          ? 'The client has no credentials to supply until it has confirmed that syncing is off.'
          : `${what} with: ${byClient('credentials')}`,
      );
      if (deletedReplacements > 0) {
        const isOne = deletedReplacements === 1;
        const were = isOne ? 'was a replacement for another credential' : 'were replacements for other credentials';
        const [these, them] = isOne ? ['this replacement', 'it'] : ['these replacements', 'them'];
        output.line(
          `${deletedReplacements.toLocaleString('en-US')} of the deleted credentials ${were}. Have the client export ${these} again, and supply ${them} with: ${byClient('replace-credential')}`,
        );
      }
      output.line(
        `If a company is not moved because its credential is unreadable, replace the credential with: ${replace}`,
      );
      if (stored.paused) {
        output.line(
          `The migration is paused. ${isTooEarly ? 'Resume it' : 'Once the credentials have been supplied, resume it'} with: ferry resume ${migration}`,
        );
      }
    },
  };
}
