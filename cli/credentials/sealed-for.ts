import { fingerprintOf } from '../../security';
import type { LedgerClient } from '../../client';
import { readMigrationKey } from '../../store';
import { CommandFailed } from '../shared/errors';

/**
 * Asserts that a file was sealed for this migration and its current key, because otherwise no worker could open it.
 *
 * @throws CommandFailed, VaultClosed, MigrationKeyInvalid
 */
export async function assertSealedFor(
  sealedFor: { readonly migrationId: string; readonly keyFingerprint: string },
  { db, providerFingerprint }: Pick<LedgerClient, 'db' | 'providerFingerprint'>,
  migrationId: string,
  file: string,
): Promise<void> {
  if (sealedFor.migrationId !== migrationId)
    throw new CommandFailed(
      `${file} was sealed for ${sealedFor.migrationId}, not for ${migrationId}`,
      `nothing was stored; correct the id of the migration, or specify a file that was sealed for ${migrationId}`,
    );
  const { publicKey } = await readMigrationKey(db, migrationId, providerFingerprint);
  if (sealedFor.keyFingerprint !== fingerprintOf(publicKey))
    throw new CommandFailed(
      `${file} was sealed with another key of ${migrationId}, so workers cannot open it`,
      `nothing was stored; the client must seal the original file again with the current key, which this command prints: ferry migration-key ${migrationId}`,
    );
}
