/** The migration key with which credentials and secrets are sealed on the client's machine. */
import type { MigrationView } from '../../portal/contract/migration-view';
import { missingKeyTexts } from '../../portal/client/missing-key';
import { fingerprintOf, MigrationKeyInvalid, parseMigrationKey, type MigrationKey } from '../../security';
import { assertTrusted, providerOf, type ProviderOption } from '../commands/supply/seal';
import { CommandFailed } from '../shared/errors';
import type { Connection } from './connection';
import type { PortalContext } from './context';

/** Where the provider's fingerprint comes from without `--provider`, for help texts. */
export const PROVIDER_SOURCE = 'TOKENFERRY_PROVIDER_FINGERPRINT, or else the link of the invitation';

/**
 * Returns the migration's key, after checking that the provider has signed it. The provider's fingerprint comes from
 * `--provider`, `TOKENFERRY_PROVIDER_FINGERPRINT` or the link of the invitation, in this order. Without a fingerprint,
 * asks the person.
 *
 * @throws CommandFailed
 */
export async function trustedKey(
  { terminal }: Pick<PortalContext, 'terminal'>,
  { signIn }: Pick<Connection, 'signIn'>,
  { migrationId, migrationKey, state }: Pick<MigrationView, 'migrationId' | 'migrationKey' | 'state'>,
  options: ProviderOption,
): Promise<MigrationKey> {
  if (migrationKey === null) {
    const { message, advice } = missingKeyTexts(migrationId, state);
    throw new CommandFailed(message, advice);
  }
  const provider = options.provider ?? providerOf(terminal.env) ?? signIn.provider ?? undefined;
  try {
    const key = parseMigrationKey(migrationKey);
    await assertTrusted(key, terminal, provider === undefined ? {} : { provider });
    if (key.migrationId === migrationId) return key;
    throw new CommandFailed(`the portal sent the key of another migration, ${key.migrationId}`, UNUSABLE_KEY);
  } catch (error) {
    if (!(error instanceof MigrationKeyInvalid)) throw error;
    throw new CommandFailed(error.message, UNUSABLE_KEY, { cause: error });
  }
}

/** The advice about a key from the portal. The client cannot get another key, because the portal supplies it. */
const UNUSABLE_KEY = 'nothing was sealed or sent; tell your contact';

export interface SealedFor {
  readonly migrationId: string;
  readonly keyFingerprint: string;
}

/** The advice about a sealed file that no worker can open, by the content of the file. */
const SEAL_AGAIN = {
  credentials: 'supply the original file, or seal it again; if you no longer have it, export the credentials again',
  application: 'use --client-id and --environment instead of --sealed, or seal the client secret again',
} as const;

/**
 * Asserts that a worker can open the sealed file.
 *
 * @throws CommandFailed
 */
export function assertSealedWith(
  key: Pick<MigrationKey, 'migrationId' | 'publicKey'>,
  sealedFor: SealedFor,
  { file, content }: { readonly file: string; readonly content: keyof typeof SEAL_AGAIN },
): void {
  if (sealedFor.migrationId !== key.migrationId)
    throw new CommandFailed(
      `${file} was sealed for ${sealedFor.migrationId}, not for ${key.migrationId}`,
      `nothing was sent; to send the file to ${sealedFor.migrationId}, specify ${sealedFor.migrationId} directly after the name of the command. Otherwise, ${SEAL_AGAIN[content]}`,
    );
  if (sealedFor.keyFingerprint !== fingerprintOf(key.publicKey))
    throw new CommandFailed(
      `${file} was sealed with another key of ${key.migrationId}`,
      `nothing was sent; ${SEAL_AGAIN[content]}`,
    );
}
