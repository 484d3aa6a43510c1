/** A new master key: the vaults' keys are wrapped anew, and nothing that is sealed is touched. */
import type { KeyProvider } from '../../security';
import type { Database } from '../database/database';

export interface Rotation {
  /** Vaults whose key is under the newest master key now, and was not before. */
  readonly rewrapped: number;
  /** Vaults whose key was under it already. */
  readonly unchanged: number;
}

/**
 * Wraps the keys of all open vaults under the newest master key, one after the other; interrupted, it is begun again.
 *
 * @throws whatever the key provider throws when it lacks an older key; what was wrapped anew until then stays so
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
    const anew = await keys.wrap(await keys.unwrap(keyId, wrapped));
    // Not when the vault was destroyed in the meantime.
    const { numUpdatedRows } = await db
      .updateTable('migrations')
      .set({ vault_key_id: anew.keyId, vault_wrapped_key: anew.wrapped })
      .where('id', '=', id)
      .where('vault_key_id', '=', keyId)
      .executeTakeFirst();
    rewrapped += Number(numUpdatedRows);
  }
  return { rewrapped, unchanged };
}
