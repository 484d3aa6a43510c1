/**
 * The vault stores sealed credentials until their companies have moved or the migration ends.
 *
 * Each migration has its own key pair. `ferry credentials` and `ferry seal` seal credentials with the public key, so
 * these commands cannot open them again. The private key is stored wrapped (encrypted) with a master key and with the
 * vault's own secret. Workers keep that secret outside Postgres, so a copy of the database is not sufficient to open
 * credentials.
 *
 * A sealed credential is bound to its migration, its company and the time at which it was obtained, so a copy in
 * another row cannot be opened. Its row is deleted when its company has moved. When the migration ends, `destroyVault`
 * erases the vault's secret and deletes the remaining credentials. Postgres can keep copies of deleted rows in its
 * files, log and backups, but from then on these copies cannot be opened.
 */
import { z } from 'zod';
import {
  applicationBinding,
  createOpener,
  credentialBinding,
  isBoundToRow,
  SealBroken,
  Secret,
  type VaultKeyWrapper,
} from '../../security';
import type { Queryable } from '../database/database';
import type { ClaimedCompany } from '../companies/lease';
import type { SealedApplication } from './sealed-applications';
import { unwrapKey } from './vault-keys';

export type CredentialFields = Readonly<Record<string, string>>;

/** The expected content of a credential's box. Validated, because anyone who has the public key can seal a box. */
const credentialFields = z.record(z.string(), z.string().min(1).max(100_000));

/**
 * Parses the content of a box.
 *
 * @throws {SealBroken} without the parser's error as its cause, because that error would quote the content
 */
function fieldsOf(plain: Buffer): CredentialFields {
  try {
    return credentialFields.parse(JSON.parse(plain.toString('utf8')));
  } catch {
    throw new SealBroken();
  }
}

/** Opens the boxes that were sealed for one migration. */
export interface VaultReader {
  /**
   * @throws {SealBroken} when the credential was altered, was sealed for another migration, company or time, or has
   * invalid content
   */
  open(credential: Pick<ClaimedCompany, 'row' | 'reference' | 'obtainedAt' | 'sealed'>): Secret<CredentialFields>;
  /** @throws {SealBroken} when the client secret was altered, or was sealed for another migration or application */
  openClientSecret(application: SealedApplication): Secret;
}

/**
 * Unwraps the migration's private key once, and returns a reader that opens the migration's boxes.
 *
 * @throws {VaultClosed | UnknownMasterKey | VaultSecretMissing | VaultSecretElsewhere | WrappedKeyBroken}
 * @throws {VaultKeyMismatch} when the stored public key does not belong to the private key
 */
export async function readVault(db: Queryable, keys: VaultKeyWrapper, migrationId: string): Promise<VaultReader> {
  const open = createOpener(await unwrapKey(db, keys, migrationId), migrationId);
  return {
    open({ row, reference, obtainedAt, sealed }) {
      const label = { reference, obtainedAt: obtainedAt.toISOString() };
      // Earlier versions bound a credential to the number of its row.
      const binding = isBoundToRow(sealed)
        ? Buffer.from(`${migrationId}/${row}`)
        : credentialBinding(migrationId, label);
      return new Secret(fieldsOf(open(sealed, binding)));
    },
    openClientSecret(application) {
      const plain = open(application.sealed, applicationBinding(migrationId, application));
      return new Secret(plain.toString('utf8'));
    },
  };
}
