/** Rotates the master key. Sealed credentials do not change, because only the vaults' private keys are rewrapped. */
import type { KeyProvider } from '../../security';
import type { Database } from '../database/database';

export interface Rotation {
  /** Vaults whose key was rewrapped under the newest master key. */
  readonly rewrapped: number;
  /** Vaults whose key was already under the newest master key. */
  readonly unchanged: number;
}

/**
 * Rewraps the private keys of all open vaults under the newest master key, one vault at a time. Safe to repeat after an
 * interruption. When it has finished, the older master keys are no longer needed.
 *
 * @throws {UnknownMasterKey} when the provider lacks the master key that wrapped a private key; vaults that were
 * already rewrapped stay rewrapped
 * @throws {WrappedKeyBroken} when a stored key was altered
 */
export async function rotateVaults(db: Database, keys: KeyProvider): Promise<Rotation> {
  const vaults = await db
    .selectFrom('migrations')
    .select(['id', 'vault_key_id as keyId', 'vault_wrapped_key as wrapped'])
    .orderBy('id')
    .execute();
  let rewrapped = 0;
  let unchanged = 0;
  for (const { id, keyId, wrapped } of vaults) {
    if (keyId === null || wrapped === null) continue;
    if (keyId === keys.newestKeyId) {
      unchanged += 1;
      continue;
    }
    const rewrappedKey = await keys.wrap(await keys.unwrap(keyId, wrapped));
    // The condition on the key id skips a vault that another process has destroyed or rewrapped since it was read.
    const { numUpdatedRows } = await db
      .updateTable('migrations')
      .set({ vault_key_id: rewrappedKey.keyId, vault_wrapped_key: rewrappedKey.wrapped })
      .where('id', '=', id)
      .where('vault_key_id', '=', keyId)
      .executeTakeFirst();
    rewrapped += Number(numUpdatedRows);
  }
  return { rewrapped, unchanged };
}
