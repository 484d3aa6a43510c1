/**
 * Migration keys: the keys with which clients seal their credentials offline.
 *
 * A migration key is the public key of a migration's vault, with the migration's id and its platform. A worker or
 * `ferry vault` signs it with the provider key. The provider publishes the fingerprint of the provider key, so a client
 * notices if the public key was replaced, in the database or on its way to the client. A migration key contains no
 * secret.
 */
import { hkdfSync } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils';
import { z } from 'zod';
import { fingerprintOf } from '../domain/migration/approvers';
import { POINT_BYTES } from './hpke';
import type { KeyRing } from './key-ring';
import type { Secret } from './secret';
import { jsonOf } from './signing-key';

/** The key pair that signs migration keys. */
export interface ProviderKey {
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
  /** Returns the signature: 128 hexadecimal digits. */
  sign(text: Uint8Array): string;
}

/**
 * Derives the provider key from a master key, because the same processes need both keys, and no other process is
 * allowed to have either of them. A new master key therefore changes the fingerprint that the provider publishes.
 */
export function deriveProviderKey(masterKey: Secret<Buffer>): ProviderKey {
  const seed = Buffer.from(hkdfSync('sha256', masterKey.reveal(), '', 'tokenferry provider key 1', 32));
  return {
    publicKey: bytesToHex(ed25519.getPublicKey(seed)),
    sign: (text) => bytesToHex(ed25519.sign(text, seed)),
  };
}

/** The facts that the provider signs. */
export interface MigrationKeyFacts {
  readonly migrationId: string;
  readonly platformKey: string;
  /** Uncompressed P-256 point, 65 bytes. */
  readonly publicKey: Uint8Array;
}

export interface MigrationKey extends MigrationKeyFacts {
  /** Public key of the provider key that made the signature. 64 hexadecimal digits. */
  readonly signedBy: string;
  /** 128 hexadecimal digits. */
  readonly signature: string;
}

/** Returns the bytes that the provider signs. */
export function signedTextOf({ migrationId, platformKey, publicKey }: MigrationKeyFacts): Uint8Array {
  const facts = ['tokenferry migration key 1', migrationId, platformKey, bytesToHex(Uint8Array.from(publicKey))];
  return Buffer.from(JSON.stringify(facts));
}

/** Returns the fingerprint of a provider key, which the provider publishes. */
export const providerFingerprint = (publicKey: string): string => fingerprintOf(hexToBytes(publicKey));

/** Returns the fingerprint of the provider key that is derived from the newest of these master keys. */
export const providerFingerprintOfMasterKeys = ({ newest }: KeyRing): string =>
  providerFingerprint(deriveProviderKey(newest.key).publicKey);

/** Thrown when a migration key is incomplete, altered, or not signed by the expected provider. */
export class MigrationKeyInvalid extends Error {
  override readonly name = 'MigrationKeyInvalid';
}

/** Thrown when a migration key names a provider key other than the expected one. */
export class SignedByAnother extends MigrationKeyInvalid {}

const PREFIX = 'tokenferry-key-1.';

const content = z.object({
  migration: z.string().min(1).max(250),
  platform: z.string().min(1).max(100),
  publicKey: z.string().regex(new RegExp(`^04[0-9a-f]{${(POINT_BYTES - 1) * 2}}$`)),
  signedBy: z.string().regex(/^[0-9a-f]{64}$/),
  signature: z.string().regex(/^[0-9a-f]{128}$/),
});

/** Returns the migration key as one line of text, which can be mailed or saved in a file. */
export function formatMigrationKey({ migrationId, platformKey, publicKey, signedBy, signature }: MigrationKey): string {
  const text = JSON.stringify({
    migration: migrationId,
    platform: platformKey,
    publicKey: bytesToHex(Uint8Array.from(publicKey)),
    signedBy,
    signature,
  } satisfies z.infer<typeof content>);
  return PREFIX + Buffer.from(text).toString('base64url');
}

/** Returns whether a text looks like a migration key, complete or not. */
export const isMigrationKey = (text: string): boolean => text.trim().startsWith(PREFIX);

/**
 * Parses the text of a migration key. Accepts line breaks inside it, because mail programs wrap long lines.
 *
 * @throws {MigrationKeyInvalid}
 */
export function parseMigrationKey(text: string): MigrationKey {
  const word = text.replace(/\s/g, '');
  if (!isMigrationKey(word))
    throw new MigrationKeyInvalid(`A migration key begins with "${PREFIX}", but this text does not`);
  const parsed = content.safeParse(jsonOf(Buffer.from(word.slice(PREFIX.length), 'base64url').toString('utf8')));
  if (!parsed.success) throw new MigrationKeyInvalid('The migration key is incomplete or was altered');
  const { migration, platform, publicKey, signedBy, signature } = parsed.data;
  return {
    ...{ migrationId: migration, platformKey: platform, publicKey: Buffer.from(publicKey, 'hex') },
    ...{ signedBy, signature },
  };
}

/**
 * Asserts that the provider with this fingerprint has signed the key. Ignores case, spaces and hyphens in the
 * fingerprint.
 *
 * @throws {MigrationKeyInvalid}
 */
export function assertSignedBy(key: MigrationKey, fingerprint: string): void {
  const actual = providerFingerprint(key.signedBy);
  if (actual.replaceAll('-', '') !== fingerprint.toLowerCase().replace(/[\s-]/g, ''))
    throw new SignedByAnother(
      `The key of ${key.migrationId} was signed by ${actual}, and not by the provider with the fingerprint ${fingerprint}`,
    );
  if (!isSignatureValid(key))
    throw new MigrationKeyInvalid(`The key of ${key.migrationId} was altered: its signature does not match`);
}

function isSignatureValid(key: MigrationKey): boolean {
  try {
    return ed25519.verify(key.signature, signedTextOf(key), key.signedBy);
  } catch {
    return false; // The signature or the provider's public key is malformed.
  }
}
