import { createHmac } from 'node:crypto';
import { Secret } from './secret';

const KEY_BYTES = 32;

/** Thrown when what should be keys is not. */
export class KeyInvalid extends Error {
  override readonly name = 'KeyInvalid';
}

/** Keys for one purpose, at least one: the first is used from now on, each opens what it has closed. */
export interface KeyRing {
  readonly newest: Key;
  readonly byId: ReadonlyMap<string, Key>;
}

interface Key {
  /** Follows from the key: nobody has to invent it, and two keys cannot have the same by mistake. Not secret. */
  readonly id: string;
  readonly key: Secret<Buffer>;
}

/**
 * The keys in a file or a variable: 32 bytes in base64 each, separated by white space or commas, the newest first.
 *
 * @param purpose what they are: `master key`. Keys of different purposes have different ids.
 * @throws {KeyInvalid} with what to do, and without the text.
 */
export function parseKeyRing(text: Secret, purpose: string): KeyRing {
  const words = text.reveal().split(/[\s,]+/);
  const keys = words.filter((word) => word !== '').map((word, index) => parseKey(word, index, purpose));
  const [newest] = keys;
  if (newest === undefined) throw new KeyInvalid(`There is no ${purpose}. ${HOW_TO_MAKE_ONE}`);
  return { newest, byId: new Map(keys.map((key) => [key.id, key])) };
}

const HOW_TO_MAKE_ONE = `Make one with: openssl rand -base64 ${KEY_BYTES}`;

function parseKey(word: string, index: number, purpose: string): Key {
  const bytes = Buffer.from(word, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== word) {
    const name = `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)} ${index + 1}`;
    throw new KeyInvalid(`${name} is not ${KEY_BYTES} bytes in base64. ${HOW_TO_MAKE_ONE}`);
  }
  const id = createHmac('sha256', bytes).update(`tokenferry ${purpose} id`).digest('hex').slice(0, 16);
  return { id, key: new Secret(bytes) };
}
