/** Checks that the vaults of the open migrations can be opened. Opens no credential and changes nothing. */
import {
  createVaultKeyWrapper,
  createVaultSecretFolder,
  UnknownMasterKey,
  VaultKeyMismatch,
  VaultSecretElsewhere,
  VaultSecretMissing,
  WrappedKeyBroken,
} from '../../security';
import { counted } from '../../domain/text/sentences';
import { readMigration, readVault, VaultClosed, type Database } from '../../store';
import { notChecked, ok, problem, readConfig, type CheckResult } from './check-result';

export const VAULTS = 'vaults';
const FOR_WORKERS =
  'workers need the master key and the folder of the vault secrets to move companies; ferry doctor checks both where they are configured';

/** The errors about the keys of a vault. Any other error is not about the vault, for example a lost connection. */
const KEY_PROBLEMS = [UnknownMasterKey, VaultKeyMismatch, WrappedKeyBroken, VaultSecretMissing, VaultSecretElsewhere];

/** @param open the ids of the open migrations */
export async function checkVaults(
  env: NodeJS.ProcessEnv,
  db: Database,
  open: readonly string[],
): Promise<readonly CheckResult[]> {
  const masterKeys = readConfig(env, 'masterKeys', VAULTS, FOR_WORKERS);
  if ('unusable' in masterKeys) return [masterKeys.unusable];
  const folder = readConfig(env, 'vaultSecrets', VAULTS, FOR_WORKERS);
  if ('unusable' in folder) return [folder.unusable];
  const keys = createVaultKeyWrapper(masterKeys.value, createVaultSecretFolder(folder.value));
  const problems: CheckResult[] = [];
  let opened = 0;
  for (const id of open) {
    // The secret of a closed migration is being erased, or has been.
    if ((await readMigration(db, id))?.state === 'closed') continue;
    try {
      await readVault(db, keys, id);
      opened += 1;
    } catch (error) {
      // The vault has no keys yet, or was destroyed when the migration ended.
      if (error instanceof VaultClosed) continue;
      if (!KEY_PROBLEMS.some((type) => error instanceof type)) throw error;
      const why = error instanceof Error ? error.message : '';
      problems.push(
        problem(
          VAULTS,
          `this machine cannot open the vault of ${id}; workers with the same keys and folder cannot move its companies`,
          why,
        ),
      );
    }
  }
  if (problems.length > 0) return problems;
  if (opened === 0) return [notChecked(VAULTS, 'not checked, because no open migration has a vault')];
  return [ok(VAULTS, `this machine can open ${counted(opened, 'vault')}`)];
}
