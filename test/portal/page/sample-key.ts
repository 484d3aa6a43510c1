/** Migration keys as a provider signs them, and the functions of a vault that open boxes sealed with them. */
import { randomBytes } from 'node:crypto';
import {
  deriveProviderKey,
  formatMigrationKey,
  providerFingerprint,
  signedTextOf,
} from '../../../security/migration-key';
import { Secret } from '../../../security/secret';

export { applicationBinding, credentialBinding } from '../../../security/bindings';
export { fingerprintOf } from '../../../domain/migration/approvers';
export { createOpener, createVaultKey } from '../../../security/sealing';

export interface MigrationKey {
  readonly text: string;
  /** The provider's fingerprint. */
  readonly provider: string;
  /** Returns the text with another public key and the same signature. */
  readonly altered: (publicKey: Uint8Array) => string;
  /** Returns another key that the same provider has signed. */
  readonly sign: (migrationId: string, platformKey: string, publicKey: Uint8Array) => string;
}

/** Creates a migration key that a new provider has signed. */
export function createMigrationKey(migrationId: string, platformKey: string, publicKey: Uint8Array): MigrationKey {
  const provider = deriveProviderKey(new Secret(randomBytes(32)));
  const signed = (facts: { migrationId: string; platformKey: string; publicKey: Uint8Array }) => ({
    ...facts,
    ...{ signedBy: provider.publicKey, signature: provider.sign(signedTextOf(facts)) },
  });
  const key = signed({ migrationId, platformKey, publicKey });
  return {
    text: formatMigrationKey(key),
    provider: providerFingerprint(provider.publicKey),
    altered: (other) => formatMigrationKey({ ...key, publicKey: other }),
    sign: (id, platform, point) =>
      formatMigrationKey(signed({ migrationId: id, platformKey: platform, publicKey: point })),
  };
}
