/**
 * Seals credentials and client secrets for the provider's workers, in the format of security/sealing.ts (version 3) and
 * security/bindings.ts: HPKE, with one encapsulation for all boxes of a sealer. Only workers can open a box.
 */
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import { fingerprintOf } from '../../../domain/migration/approvers';
import { fromHex } from '../sign-in/keys';

const VERSION = 3;
const INFO = utf8('tokenferry vault 1');
const KEY_PREFIX = 'tokenferry-key-1.';

/**
 * Thrown when the migration key cannot be read, or was not signed by the provider for this migration. Nothing may be
 * sealed with this key.
 */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
}

export interface SealingKey {
  readonly migrationId: string;
  readonly platformKey: string;
  /** Uncompressed P-256 point. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly fingerprint: string;
  /** Fingerprint of the provider's key, which signed the migration key. */
  readonly signedBy: string;
}

/**
 * Parses the migration key and checks that the provider has signed it for this migration.
 *
 * @param provider the provider's fingerprint from the invitation
 * @throws KeyRefused
 */
export async function checkKey(text: string, migrationId: string, provider: string): Promise<SealingKey> {
  const { migration, platform, publicKey, signedBy, signature } = parseKey(text);
  const fingerprint = fingerprintOf(fromHex(signedBy));
  if (plain(fingerprint) !== plain(provider))
    throw new KeyRefused(
      `The migration key was signed by the provider with the fingerprint ${fingerprint}, but your invitation names the provider with the fingerprint ${provider}. Nothing was sent. Tell your contact by phone.`,
    );
  const facts = utf8(JSON.stringify(['tokenferry migration key 1', migration, platform, publicKey]));
  const verifier = await crypto.subtle.importKey('raw', fromHex(signedBy), 'Ed25519', false, ['verify']);
  if (!(await crypto.subtle.verify('Ed25519', verifier, fromHex(signature), facts)) || migration !== migrationId)
    throw new KeyRefused(
      'The migration key was altered, or belongs to another migration. Nothing was sent. Tell your contact by phone.',
    );
  const point = fromHex(publicKey);
  return {
    ...{ migrationId: migration, platformKey: platform, publicKey: point, signedBy: fingerprint },
    fingerprint: fingerprintOf(point),
  };
}

const plain = (fingerprint: string): string => fingerprint.toLowerCase().replace(/[\s-]/g, '');

function parseKey(text: string): Readonly<Record<string, string>> & {
  readonly migration: string;
  readonly platform: string;
  readonly publicKey: string;
  readonly signedBy: string;
  readonly signature: string;
} {
  try {
    if (!text.startsWith(KEY_PREFIX)) throw new SyntaxError('another prefix');
    const base64 = text.slice(KEY_PREFIX.length).replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(new TextDecoder().decode(fromBase64(base64))) as ReturnType<typeof parseKey>;
  } catch {
    throw new KeyRefused('The migration key cannot be read. Nothing was sent. Tell your contact by phone.');
  }
}

/** Seals a text and returns the box. The box can be opened only with the same `binding`. */
export type Sealer = (text: string, binding: readonly string[]) => Promise<Uint8Array>;

/** Creates a sealer, whose boxes share one encapsulation. */
export async function createSealer({ publicKey }: SealingKey): Promise<Sealer> {
  const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  const recipientPublicKey = await suite.kem.deserializePublicKey(publicKey);
  const sender = await suite.createSenderContext({ recipientPublicKey, info: INFO });
  const encapsulated = new Uint8Array(sender.enc);
  let sequence = 0;
  return async (text, binding) => {
    const mine = sequence++;
    const boundTo = utf8(JSON.stringify(binding));
    const ciphertext = new Uint8Array(await sender.seal(utf8(text), concat(Uint8Array.of(VERSION), boundTo)));
    return concat(Uint8Array.of(VERSION), encapsulated, fromHex(mine.toString(16).padStart(8, '0')), ciphertext);
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text));
}

function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
