/**
 * Signed decisions: role and person come from a signature that only the person's own key can make.
 *
 * What is signed names the migration and the message, and holds everything that was sent: the step, the decision's id
 * and when it was signed. So it can be replayed in no other migration, for no other step, and not later in its own.
 */
import { ed25519 } from '@noble/curves/ed25519';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils';
import { canonicalJson } from './canonical-json';
import type { DecisionMessage } from './parse-decision';
import type { Role } from './steps';

/** Somebody whose decisions a migration takes. */
export interface Approver {
  readonly role: Role;
  readonly by: string;
  /** Ed25519, 64 hexadecimal digits. */
  readonly publicKey: string;
}

export interface Signature {
  /** Whose it says it is. */
  readonly publicKey: string;
  /** Ed25519, 128 hexadecimal digits. */
  readonly value: string;
}

/** A signed message as it came: who has the public key can verify it, whenever and wherever. */
export interface SignedMessage {
  readonly message: DecisionMessage;
  readonly content: Readonly<Record<string, unknown>>;
  readonly signature: Signature;
}

/** When each approver's last decision was signed, by public key. ISO 8601, UTC. */
export type LastSigned = Readonly<Record<string, string>>;

/** What a signature is made of. */
export function signedText(migrationId: string, { message, content }: Omit<SignedMessage, 'signature'>): Uint8Array {
  return utf8ToBytes(`tokenferry decision 1\n${canonicalJson({ migrationId, message, content })}`);
}

/** The signed message that an input holds, as far as its form goes; null: it is not signed. */
export function readSigned(message: DecisionMessage, input: unknown): SignedMessage | null {
  if (typeof input !== 'object' || input === null || !('signature' in input)) return null;
  const { signature: given, ...content } = input;
  const signature = readSignature(given);
  return signature && { message, content, signature };
}

/** A signature by its form; null: it is none. */
export function readSignature(signature: unknown): Signature | null {
  if (typeof signature !== 'object' || signature === null) return null;
  const { publicKey, value } = signature as { readonly publicKey?: unknown; readonly value?: unknown };
  return isHex(publicKey, 64) && isHex(value, 128) ? { publicKey, value } : null;
}

/** Whether the message was signed with this key, for this migration, and not altered since. */
export function isSignedBy(publicKey: string, migrationId: string, signed: SignedMessage): boolean {
  return verifies({ publicKey, value: signed.signature.value }, signedText(migrationId, signed));
}

/** Whether the signature is this key's, and of this text. */
export function verifies({ publicKey, value }: Signature, text: Uint8Array): boolean {
  try {
    return ed25519.verify(hexToBytes(value), text, hexToBytes(publicKey));
  } catch {
    return false; // no point of the curve
  }
}

/** What speaks against a message of a migration that takes signed decisions only; null: nothing. */
export function signatureObjection(
  { migrationId, approvers }: { readonly migrationId: string; readonly approvers: readonly Approver[] },
  signed: SignedMessage | null,
  lastSigned: LastSigned = {},
): string | null {
  if (!signed) return 'decisions of this migration have to be signed, and this one is not';
  const { content, signature } = signed;
  const approver = approvers.find(({ publicKey }) => publicKey === signature.publicKey);
  if (!approver) return 'it is signed with a key that decides nothing in this migration';
  if (!isSignedBy(approver.publicKey, migrationId, signed)) {
    return 'the signature does not fit: it was made for something else, or what it was made for was altered';
  }
  if (content['role'] !== approver.role || content['by'] !== approver.by) {
    return `the key is that of ${approver.by} (${approver.role}), and somebody else is said to decide`;
  }
  const { signedAt } = content;
  if (typeof signedAt !== 'string' || !ISO_UTC.test(signedAt)) return 'it does not say when it was signed';
  const last = lastSigned[signature.publicKey];
  if (last !== undefined && signedAt <= last)
    return 'it was signed before another decision of the same person that came first';
  return null;
}

/** With this one as its signer's last. */
export function withSigned(lastSigned: LastSigned = {}, { content, signature }: SignedMessage): LastSigned {
  const { signedAt } = content;
  return typeof signedAt === 'string' ? { ...lastSigned, [signature.publicKey]: signedAt } : lastSigned;
}

/** As `Date.toISOString` writes it: as text, later is greater. */
const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function isHex(value: unknown, digits: number): value is string {
  return typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value);
}
