/**
 * The person's signing key: Ed25519, created in this browser and stored in its IndexedDB. Nobody can export it, not even
 * this page, so a decision can only be signed here.
 */
import type { Signer } from '../client/decisions';

interface StoredKey {
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
  readonly privateKey: CryptoKey;
  /** The provider's fingerprint from the invitation; null if the link had none. */
  readonly provider: string | null;
}

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

/** Creates a key and stores it. */
export async function createKey(provider: string | null): Promise<StoredKey> {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const publicKey = toHex(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const key = { publicKey, privateKey: pair.privateKey, provider };
  await inStore('readwrite', (store) => store.put(key));
  return key;
}

/** Returns null if the key was created in another browser, or this browser has deleted it. */
export async function findKey(publicKey: string): Promise<StoredKey | null> {
  return ((await inStore('readonly', (store) => store.get(publicKey))) as StoredKey | undefined) ?? null;
}

export async function deleteKey(publicKey: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(publicKey));
}

export const signerOf = ({ publicKey, privateKey }: StoredKey): Signer => ({
  publicKey,
  sign: async (text) => toHex(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, text))),
});

function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('tokenferry', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys', { keyPath: 'publicKey' });
    opening.onerror = () => reject(opening.error ?? new Error('the browser does not store keys'));
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('keys', mode);
      const request = work(transaction.objectStore('keys'));
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(request.result);
      };
      transaction.onerror = () => reject(transaction.error ?? new Error('the browser does not store keys'));
    };
  });
}
