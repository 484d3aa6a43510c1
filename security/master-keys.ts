import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { type KeyProvider, UnknownMasterKey, WrappedKeyBroken } from './key-provider';
import { Secret } from './secret';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Thrown when what should be master keys is not. */
export class MasterKeyInvalid extends Error {
  override readonly name = 'MasterKeyInvalid';
}

/** At least one: the first wraps, each unwraps what it has wrapped. */
export type MasterKeys = readonly [Secret<Buffer>, ...Secret<Buffer>[]];

/**
 * The master keys in a file or a variable: 32 bytes in base64 each, separated by white space or commas, the newest
 * first.
 * @throws {MasterKeyInvalid} with what to do, and without the text.
 */
export function parseMasterKeys(text: Secret): MasterKeys {
  const words = text.reveal().split(/[\s,]+/);
  const [first, ...older] = words.filter((word) => word !== '').map(parseMasterKey);
  if (first === undefined) throw new MasterKeyInvalid(`There is no master key. ${HOW_TO_MAKE_ONE}`);
  return [first, ...older];
}

const HOW_TO_MAKE_ONE = `Make one with: openssl rand -base64 ${KEY_BYTES}`;

function parseMasterKey(word: string, index: number): Secret<Buffer> {
  const key = Buffer.from(word, 'base64');
  if (key.length === KEY_BYTES && key.toString('base64') === word) return new Secret(key);
  throw new MasterKeyInvalid(`Master key ${index + 1} is not ${KEY_BYTES} bytes in base64. ${HOW_TO_MAKE_ONE}`);
}

/**
 * Wraps data keys with AES-256-GCM. A wrapped key is a nonce, the tag and the ciphertext, bound to the master key's id.
 */
export function createMasterKeyProvider(masterKeys: MasterKeys): KeyProvider {
  const byId = new Map(masterKeys.map((key) => [idOf(key), key]));
  const [newest] = masterKeys;
  const newestId = idOf(newest);

  return {
    async wrap(dataKey) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.reveal(), nonce).setAAD(Buffer.from(newestId));
      const ciphertext = Buffer.concat([cipher.update(dataKey.reveal()), cipher.final()]);
      return { keyId: newestId, wrapped: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]) };
    },

    async unwrap(keyId, wrapped) {
      const masterKey = byId.get(keyId);
      if (masterKey === undefined) throw new UnknownMasterKey(keyId, [...byId.keys()]);
      const nonce = wrapped.subarray(0, NONCE_BYTES);
      const tag = wrapped.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', masterKey.reveal(), nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(keyId)).setAuthTag(tag);
        const ciphertext = wrapped.subarray(NONCE_BYTES + TAG_BYTES);
        return new Secret(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
      } catch (error) {
        throw new WrappedKeyBroken(keyId, { cause: error });
      }
    },
  };
}

/** A key's name follows from the key: nobody has to invent one, and two keys cannot have the same by mistake. */
function idOf(key: Secret<Buffer>): string {
  return createHmac('sha256', key.reveal()).update('tokenferry master key id').digest('hex').slice(0, 16);
}
