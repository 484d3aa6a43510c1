/**
 * The person's signing key (Ed25519), created in this browser and stored in its IndexedDB. The key cannot be exported,
 * not even by this page, so only this browser can sign decisions with this key.
 */
import type { Signer } from '../../client/decisions';
import { FormProblem } from '../elements/dialog';

/** The owner of a key. Stored once the portal has accepted the key. */
interface KeyOwner {
  readonly migrationId: string;
  readonly person: string;
}

export interface StoredKey {
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
  readonly privateKey: CryptoKey;
  /** The provider's fingerprint from the invitation; null if the link had none. */
  readonly provider: string | null;
  /** SHA-256 of the invitation's token, or of `account <migration>` for an account; 64 hexadecimal digits. */
  readonly invitation: string;
  /** True if the person signs in with an account. */
  readonly hasAccount: boolean;
  readonly owner?: KeyOwner;
  /** When this browser last showed the migration to the key's owner. In milliseconds since 1970. */
  readonly usedAt?: number;
}

export type OwnedKey = StoredKey & Required<Pick<StoredKey, 'owner'>>;

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));

/** Returns whether this browser can create and keep Ed25519 keys. */
export async function canSign(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    return typeof indexedDB !== 'undefined';
  } catch {
    return false;
  }
}

/** Returns the SHA-256 of a text, in hexadecimal digits. */
export async function digestOf(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** Returns the text that identifies an invitation for an account, because such an invitation has no token. */
export const accountText = (migrationId: string): string => `account ${migrationId}`;

/** Returns the value of `invitation` in the keys that were created for an account. */
export const accountDigest = (migrationId: string): Promise<string> => digestOf(accountText(migrationId));

/** Creates a key for an invitation and stores it. */
export async function createKey(
  invitationToken: string,
  provider: string | null,
  hasAccount = false,
): Promise<StoredKey> {
  const invitation = await digestOf(invitationToken);
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const publicKey = toHex(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const key = { publicKey, privateKey: pair.privateKey, provider, invitation, hasAccount };
  await inStore('readwrite', (store) => store.put(key));
  return key;
}

/** Returns a stored key; null if it was created in another browser, or this browser has deleted it. */
export async function findKey(publicKey: string): Promise<StoredKey | null> {
  return ((await inStore('readonly', (store) => store.get(publicKey))) as StoredKey | undefined) ?? null;
}

/** Stores the provider's fingerprint with a key. Returns the key with it. */
export async function storeProvider(key: StoredKey, provider: string): Promise<StoredKey> {
  const known = { ...key, provider };
  await inStore('readwrite', (store) => store.put(known));
  return known;
}

/** Records the owner of a key and the time of use, so that the owner can sign in again. Returns the key with them. */
export async function recordUse(key: StoredKey, { migrationId, person }: KeyOwner): Promise<OwnedKey> {
  const used: OwnedKey = { ...key, owner: { migrationId, person }, usedAt: Date.now() };
  await inStore('readwrite', (store) => store.put(used));
  return used;
}

const allKeys = async (): Promise<readonly StoredKey[]> =>
  (await inStore('readonly', (store) => store.getAll())) as readonly StoredKey[];

/** Returns a key that was created for the invitation and has no owner yet; undefined if there is none. */
export async function pendingKey(invitation: string): Promise<StoredKey | undefined> {
  return (await allKeys()).find((key) => key.invitation === invitation && key.owner === undefined);
}

/** Returns the keys with which a person can sign in again, the most recently used first. */
export async function ownedKeys(): Promise<readonly OwnedKey[]> {
  return (await allKeys())
    .filter((key): key is OwnedKey => key.owner !== undefined)
    .sort((one, other) => (other.usedAt ?? 0) - (one.usedAt ?? 0));
}

export async function deleteKey(publicKey: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(publicKey));
}

export const signerOf = ({ publicKey, privateKey }: StoredKey): Signer => ({
  publicKey,
  sign: async (text) => toHex(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, text))),
});

/** Advice about a browser that does not let the page use its database of keys. */
const ADVICE: Readonly<Record<'readonly' | 'readwrite', string>> = {
  readonly: 'this browser cannot read its stored keys. Allow this site to store data. Then open your link again',
  readwrite:
    'this browser cannot store your key. Allow this site to store data, leave private browsing, or use another browser. Then open your link again',
};

/**
 * Carries out a request on the stored keys.
 *
 * @throws {FormProblem} if the browser does not allow it; the cause contains the browser's reason
 */
async function inStore<T>(mode: 'readonly' | 'readwrite', work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  try {
    const database = await openDatabase();
    try {
      return await completed(database.transaction('keys', mode), work);
    } finally {
      database.close();
    }
  } catch (error) {
    throw new FormProblem(ADVICE[mode], { cause: error });
  }
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('tokenferry', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys', { keyPath: 'publicKey' });
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error ?? new Error('the database of keys cannot be opened'));
  });
}

/** Waits until the transaction is complete. A browser can still abort it after its request has succeeded. */
function completed<T>(transaction: IDBTransaction, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = work(transaction.objectStore('keys'));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
  });
}
