import { decrypt, encrypt } from './aead';
import { type KeyProvider, UnknownMasterKey, WrappedKeyBroken } from './key-provider';
import { type KeyRing, parseKeyRing } from './key-ring';
import { Secret } from './secret';

/** @throws {KeyInvalid} */
export function parseMasterKeys(text: Secret): KeyRing {
  return parseKeyRing(text, 'master key');
}

/** Wraps data keys under the newest master key; each unwraps what it has wrapped. */
export function createMasterKeyProvider({ newest, byId }: KeyRing): KeyProvider {
  return {
    newestKeyId: newest.id,

    async wrap(dataKey) {
      return { keyId: newest.id, wrapped: encrypt(newest.key, dataKey.reveal(), newest.id) };
    },

    async unwrap(keyId, wrapped) {
      const masterKey = byId.get(keyId);
      if (masterKey === undefined) throw new UnknownMasterKey(keyId, [...byId.keys()]);
      try {
        return new Secret(decrypt(masterKey.key, wrapped, keyId));
      } catch (error) {
        throw new WrappedKeyBroken(keyId, { cause: error });
      }
    },
  };
}
