/**
 * Key rings: the symmetric keys of one purpose, newest first.
 *
 * New data is encrypted under the newest key and stores the id of that key. Older keys still decrypt the data that was
 * encrypted under them. To rotate a key, put a new key in front of it.
 */
import { createHmac } from 'node:crypto';
import { Secret } from './secret';

const KEY_BYTES = 32;

/** Thrown when a text does not contain valid keys, or a file is too large to contain them. Never quotes the text. */
export class KeyInvalid extends Error {
  override readonly name = 'KeyInvalid';
}

/** At least one key. All keys have the same purpose. */
export interface KeyRing {
  readonly newest: Key;
  readonly byId: ReadonlyMap<string, Key>;
}

interface Key {
  /** Derived from the key and its purpose. Not secret. */
  readonly id: string;
  readonly key: Secret<Buffer>;
}

/** The name of the keys in messages, which is also part of the derivation of their ids. */
type KeyPurpose = 'master key' | 'payload key' | 'service key';

/**
 * Parses the keys in a file or a variable: 32 bytes in base64 each, separated by white space or commas, newest first.
 *
 * @throws {KeyInvalid}
 */
export function parseKeyRing(text: Secret, purpose: KeyPurpose): KeyRing {
  const words = text.reveal().split(/[\s,]+/);
  const keys = words.filter((word) => word !== '').map((word, index) => parseKey(word, index, purpose));
  const [newest] = keys;
  if (newest === undefined)
    throw new KeyInvalid(
      `There is no ${purpose}. Use the existing key of this installation. For a new installation, create a key with: ${CREATE_KEY}`,
    );
  return { newest, byId: new Map(keys.map((key) => [key.id, key])) };
}

/** Parses the keys that wrap the private keys of vaults: see {@link parseKeyRing}. */
export const parseMasterKeys = (text: Secret): KeyRing => parseKeyRing(text, 'master key');

/** Parses the keys that encrypt the payloads in Temporal: see {@link parseKeyRing}. */
export const parsePayloadKeys = (text: Secret): KeyRing => parseKeyRing(text, 'payload key');

/**
 * Parses the keys under which the Company Data Service encrypts tokens and client secrets: see {@link parseKeyRing}.
 */
export const parseServiceKeys = (text: Secret): KeyRing => parseKeyRing(text, 'service key');

const CREATE_KEY = `openssl rand -base64 ${KEY_BYTES}`;

function parseKey(word: string, index: number, purpose: KeyPurpose): Key {
  const bytes = Buffer.from(word, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== word) {
    const name = `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)} ${index + 1}`;
    throw new KeyInvalid(
      `${name} is not ${KEY_BYTES} bytes in base64. If it is an existing key of this installation, copy it again. If it is a new key, create it with: ${CREATE_KEY}`,
    );
  }
  const id = createHmac('sha256', bytes).update(`tokenferry ${purpose} id`).digest('hex').slice(0, 16);
  return { id, key: new Secret(bytes) };
}
