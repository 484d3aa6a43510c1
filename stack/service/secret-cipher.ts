/**
 * The cipher of the Company Data Service, made from keys outside its database. It is part of the stack because the
 * service does not import `security`.
 */
import type { SecretCipher } from '../../company-data-service';
import { decrypt, encrypt } from '../../security/aead';
import type { KeyRing } from '../../security';

/** Creates a cipher that encrypts under the newest key and decrypts under every key of the ring. */
export function createSecretCipher({ newest, byId }: KeyRing): SecretCipher {
  const newestKeyId = Buffer.from(newest.id, 'hex');
  return {
    newestKeyId,
    encrypt: (text, boundTo) => Buffer.concat([newestKeyId, encrypt(newest.key, Buffer.from(text), boundTo)]),
    decrypt: (encrypted, boundTo) => {
      const id = encrypted.subarray(0, newestKeyId.length).toString('hex');
      const known = byId.get(id);
      if (!known) {
        throw new Error(
          `The service's database contains a secret that is encrypted under service key ${id}, but the service only has ` +
            `${[...byId.keys()].join(', ')}. Start the service with service key ${id} as well: see "Keys" in docs/security.md.`,
        );
      }
      return decrypt(known.key, encrypted.subarray(newestKeyId.length), boundTo).toString();
    },
  };
}
