import { ed25519 } from '@noble/curves/ed25519';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils';
import { z } from 'zod';
import { sentence } from '../domain/text/sentences';
import { KeyInvalid } from './key-ring';
import type { Secret } from './secret';

/** A person's Ed25519 key. Its signatures prove to an auditor who made a decision. */
export interface SigningKey {
  /** The person's name, as it appears in their decisions. */
  readonly by: string;
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
  /** Returns the signature: 128 hexadecimal digits. */
  sign(text: Uint8Array): string;
}

const signingKeyFile = z.object({
  signingKey: z.literal('ed25519'),
  by: z.string().min(1),
  privateKey: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Generates a signing key and returns the content of its file, which contains the private key unencrypted. */
export function createSigningKey(by: string): string {
  const privateKey = bytesToHex(ed25519.utils.randomPrivateKey());
  return JSON.stringify({ signingKey: 'ed25519', by, privateKey } satisfies z.infer<typeof signingKeyFile>, null, 2);
}

export const INVALID_SIGNING_KEY = 'the file does not contain a valid signing key';
/** The advice about {@link INVALID_SIGNING_KEY}. */
export const SIGNING_KEY_ADVICE =
  'if your key is in another file, set TOKENFERRY_SIGNING_KEY_FILE to that file. Otherwise, restore this file from a copy. If you have no copy, move this file away, and create a new key with: ferry keys create';

/**
 * Parses the content of a signing key file.
 *
 * @throws {KeyInvalid} with a message that never quotes the text
 */
export function parseSigningKey(text: Secret): SigningKey {
  const parsed = signingKeyFile.safeParse(jsonOf(text.reveal()));
  if (!parsed.success) throw new KeyInvalid(`${INVALID_SIGNING_KEY}. ${sentence(SIGNING_KEY_ADVICE)}`);
  const { by, privateKey } = parsed.data;
  const key = hexToBytes(privateKey);
  return {
    by,
    publicKey: bytesToHex(ed25519.getPublicKey(key)),
    sign: (message) => bytesToHex(ed25519.sign(message, key)),
  };
}

/**
 * Parses JSON. Returns undefined if the text is not JSON. Drops the error, because its message would quote the text.
 */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
