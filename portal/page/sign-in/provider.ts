/** Adds the provider's fingerprint to a key that was created when the link of the invitation had none. */
import { checkKey } from '../supply/sealing';
import { accountDigest, pendingKey, storeProvider, type StoredKey } from './keys';

interface Opened {
  readonly migrationId: string;
  /** The migration key that the portal shows; null if there is none at the moment. */
  readonly migrationKey: string | null;
  /** The fingerprint in the link with which this page was opened; null if there is none. */
  readonly linked: string | null;
}

/**
 * Returns the key. If it has no fingerprint, adds the fingerprint of a link that the person has opened later, but only
 * if the provider with this fingerprint has signed the migration key. A link with a false fingerprint, which anyone can
 * make, therefore has no effect.
 */
export async function withProvider(key: StoredKey, { migrationId, migrationKey, linked }: Opened): Promise<StoredKey> {
  if (key.provider !== null || migrationKey === null) return key;
  // The identity provider redirects the browser to the page without the link. The fingerprint of the latest link is
  // then stored with the key that was created for the sign-in.
  const provider = linked ?? (await pendingKey(await accountDigest(migrationId)))?.provider ?? null;
  if (provider === null) return key;
  const isSigner = await checkKey(migrationKey, migrationId, provider).then(
    () => true,
    () => false,
  );
  return isSigner ? storeProvider(key, provider) : key;
}
