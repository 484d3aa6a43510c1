/** Secrets that print as `[secret]`, boxes that only a worker opens, and the master keys above them. */
export { type KeyProvider, UnknownMasterKey, WrappedKeyBroken } from './key-provider';
export { createMasterKeyProvider, MasterKeyInvalid, type MasterKeys, parseMasterKeys } from './master-keys';
export { createVaultKey, openerFor, seal, SealBroken, type VaultKey } from './sealing';
export { Secret } from './secret';
