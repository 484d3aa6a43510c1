/** Secrets that print as `[secret]`, boxes that only a worker opens, and the keys above them. */
export { dataConverterOf, withoutPayloads } from './data-converter';
export { type KeyProvider, UnknownMasterKey, WrappedKeyBroken } from './key-provider';
export { KeyInvalid, type KeyRing } from './key-ring';
export { createMasterKeyProvider, parseMasterKeys } from './master-keys';
export { createPayloadCodec, parsePayloadKeys, UnknownPayloadKey } from './payload-codec';
export { createVaultKey, openerFor, seal, SealBroken, type VaultKey, VaultKeyExchanged } from './sealing';
export { Secret } from './secret';
export { createSigningKey, parseSigningKey, type SigningKey } from './signing-key';
