/**
 * Secrets and the keys that protect them.
 *
 * - `Secret` wraps a value in memory so that logs, errors and JSON show `[secret]` instead of it.
 * - Sealing encrypts a credential with its migration's public key. Only a holder of the private key can decrypt it.
 * - Master keys and vault secrets wrap the private keys that Postgres stores, so a copy of the database is not
 *   sufficient to decrypt credentials. Once a vault secret has been erased, nothing can decrypt that vault's
 *   credentials.
 * - Payload keys encrypt the payloads that Temporal stores, so Temporal's operators see only ids, states, times and
 *   counts.
 * - A signing key signs the decisions of one person. The provider key signs migration keys, with which clients seal
 *   credentials offline.
 *
 * `redaction.ts` removes credentials from text, and `log.ts` removes secrets from log lines. `codec-server/` decrypts
 * payloads for Temporal's UI and CLI. Temporal's SDK loads `payload-converter.ts` and `failure-converter.ts` by path.
 */
export {
  KeyInvalid,
  type KeyRing,
  parseKeyRing,
  parseMasterKeys,
  parsePayloadKeys,
  parseServiceKeys,
} from './key-ring';
export {
  createDataConverter,
  createPayloadCodec,
  createWorkerDataConverter,
  UnknownPayloadKey,
  createPlainDataConverter,
} from './payload-codec';
export { isKeyId } from './payload-converter';
export { fingerprintOf } from '../domain/migration/approvers';
export { applicationBinding, credentialBinding, sealClientSecret, sealCredential } from './bindings';
export {
  createIdentityVerifier,
  type Identity,
  identityIn,
  IdentityRefused,
  type VerifyIdentity,
} from './identity-token';
export {
  assertSignedBy,
  deriveProviderKey,
  providerFingerprintOfMasterKeys,
  formatMigrationKey,
  isMigrationKey,
  type MigrationKey,
  MigrationKeyInvalid,
  parseMigrationKey,
  providerFingerprint,
  SignedByAnother,
} from './migration-key';
export {
  assertKeyPair,
  createOpener,
  createSealer,
  createVaultKey,
  isBoundToRow,
  SealBroken,
  type VaultKey,
  VaultKeyMismatch,
} from './sealing';
export {
  createVaultKeyWrapper,
  type VaultKeyWrapper,
  UnknownMasterKey,
  type WrappedKey,
  WrappedKeyBroken,
} from './vault-key-wrapper';
export { createPortalToken, hashPortalToken, Secret } from './secret';
export {
  createSigningKey,
  INVALID_SIGNING_KEY,
  jsonOf,
  parseSigningKey,
  SIGNING_KEY_ADVICE,
  type SigningKey,
} from './signing-key';
export { createVaultSecretFolder, VaultSecretElsewhere, VaultSecretMissing } from './vault-secrets';
