/**
 * Signed decisions: an Ed25519 signature proves the role and the person.
 *
 * The signed text contains the migration, the message name and all fields of the message, including the step, the
 * decision's id and the time of signing. A signed decision therefore cannot be replayed in another migration, for
 * another step, or later in the same migration.
 */
import { ed25519 } from '@noble/curves/ed25519';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils';
import { momentText } from '../text/sentences';
import { fieldsOf, withoutUnsafeCharacters } from '../text/untrusted-text';
import {
  approverWithKey,
  removalOf,
  signingRules,
  type Approver,
  type ApproverChange,
  type SigningRules,
} from './approvers';
import type { DecisionMessage } from './parse-decision';
import { roleText, type Role } from './steps';

export interface Signature {
  /** The key of the claimed signer. */
  readonly publicKey: string;
  /** Ed25519, 128 hexadecimal digits. */
  readonly value: string;
}

/** A signed message as received, so that anyone with the public key can verify it later. */
export interface SignedMessage {
  readonly message: DecisionMessage;
  readonly content: Readonly<Record<string, unknown>>;
  readonly signature: Signature;
}

/** When each approver signed their latest decision, by public key. ISO 8601, UTC. */
export type LastSigned = Readonly<Record<string, string>>;

/** Serializes a value so that equal values give equal text, whatever the order of their fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}

/** Returns the bytes that are signed. */
export function bytesToSign(migrationId: string, { message, content }: Omit<SignedMessage, 'signature'>): Uint8Array {
  return utf8ToBytes(`tokenferry decision 1\n${canonicalJson({ migrationId, message, content })}`);
}

/** Parses a signed message without verifying it. Returns null if it has no well-formed signature. */
export function parseSigned(message: DecisionMessage, input: unknown): SignedMessage | null {
  const { signature: given, ...content } = fieldsOf(input);
  const signature = parseSignature(given);
  return signature && { message, content, signature };
}

/** Parses a signature without verifying it. Returns null if it is malformed. */
export function parseSignature(signature: unknown): Signature | null {
  const { publicKey, value } = fieldsOf(signature);
  return isHex(publicKey, 64) && isHex(value, 128) ? { publicKey, value } : null;
}

/** Returns whether this key signed exactly this message for this migration. */
export function isSignedBy(publicKey: string, migrationId: string, signed: SignedMessage): boolean {
  return verifies({ publicKey, value: signed.signature.value }, bytesToSign(migrationId, signed));
}

/** Returns whether the signature of the text is valid for its public key. */
export function verifies({ publicKey, value }: Signature, text: Uint8Array): boolean {
  try {
    return ed25519.verify(hexToBytes(value), text, hexToBytes(publicKey));
  } catch {
    return false; // The key or the signature is not hexadecimal, or has the wrong length.
  }
}

/** Returns whether a decision was refused because it has no signature. */
export const isUnsignedRefusal = (text: string): boolean =>
  text.endsWith('must be signed by an approver; this one is not');

/** The signing rules of one migration. */
export interface MigrationSigning extends SigningRules {
  readonly migrationId: string;
  /** The applied decisions about approvers, oldest first. If absent, a refusal does not say who removed a key. */
  readonly changes?: readonly ApproverChange[] | null;
}

/**
 * Returns the signing rules of a migration.
 *
 * @param atStart the approvers at the start of the migration; null if there were none
 * @param changes the applied decisions about approvers, oldest first
 */
export function signingOf(
  migrationId: string,
  atStart: readonly Approver[] | null,
  changes: readonly ApproverChange[] | null,
): MigrationSigning {
  return { migrationId, changes, ...signingRules(atStart, changes) };
}

/**
 * Returns why the signature of a decision, or its absence, is refused; null if it is accepted.
 *
 * @param role the role that the decision names
 */
export function signatureRefusal(
  { migrationId, approvers, mustSign, changes }: MigrationSigning,
  role: Role,
  signed: SignedMessage | null,
  lastSigned: LastSigned = {},
): string | null {
  if (!mustSign.includes(role)) return null;
  if (!signed) {
    return mustSign.length === 1
      ? `decisions of ${roleText(role)} in this migration must be signed by an approver; this one is not`
      : 'decisions in this migration must be signed by an approver; this one is not';
  }
  const { content, signature } = signed;
  const approver = approverWithKey(approvers, signature.publicKey);
  if (!approver) {
    const { approver: owner, by, at } = removalOf(changes, signature.publicKey) ?? {};
    return owner && by !== undefined && at !== undefined
      ? `${by} removed this key of ${owner.by} (${owner.role}) at ${momentText(at)}; sign with another key, or ask support to add this key again`
      : 'this decision is signed with a key that does not belong to an approver of this migration';
  }
  if (!isSignedBy(approver.publicKey, migrationId, signed)) {
    return 'the signature does not match: the decision was changed, or the signature is for another decision';
  }
  if (content['role'] !== approver.role || content['by'] !== approver.by) {
    return `the decision is signed with the key of ${quotedName(approver.by)} (${approver.role}), but was made as ${nameOf(content)}`;
  }
  const { signedAt } = content;
  if (typeof signedAt !== 'string' || !ISO_UTC.test(signedAt))
    return 'this decision must say when it was signed, as a UTC time such as 2026-03-07T20:00:00.000Z';
  const last = lastSigned[signature.publicKey];
  if (last !== undefined && signedAt <= last)
    return "the same key has already signed a decision at the same time or later, so this decision is out of order; check that your device's clock is right, and make the decision again";
  return null;
}

/** Names the person and the role of a decision, which can have any content as long as its signature is not accepted. */
function nameOf({ by, role }: SignedMessage['content']): string {
  const name = typeof by === 'string' ? quotedName(by) : 'another person';
  return role === 'client' || role === 'support' ? `${name} (${role})` : `${name}, without a role`;
}

const MAX_NAME_LENGTH = 200;

/** Quotes a name and keeps its white space, because two names can differ only in that. */
function quotedName(name: string): string {
  const text = name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}...`;
  return withoutUnsafeCharacters(JSON.stringify(text));
}

/**
 * Returns the signed message if it should be recorded with its decision; otherwise null. A signature that the migration
 * does not require is recorded only if it is valid for the key that it names. Once support has confirmed the key, such
 * a signature proves the decision.
 */
export function recordedSignature(
  { migrationId, mustSign }: MigrationSigning,
  role: Role,
  signed: SignedMessage | null,
): SignedMessage | null {
  if (!signed || mustSign.includes(role)) return signed;
  const { signedAt } = signed.content;
  const isValid =
    typeof signedAt === 'string' &&
    ISO_UTC.test(signedAt) &&
    isSignedBy(signed.signature.publicKey, migrationId, signed);
  return isValid ? signed : null;
}

/** Records the signing time of this message as its signer's latest, unless a later time is recorded. */
export function withLastSigned(lastSigned: LastSigned = {}, { content, signature }: SignedMessage): LastSigned {
  const { signedAt } = content;
  const last = lastSigned[signature.publicKey];
  if (typeof signedAt !== 'string' || (last !== undefined && signedAt <= last)) return lastSigned;
  return { ...lastSigned, [signature.publicKey]: signedAt };
}

/** The format of `Date.toISOString`. Times in this format can be compared as text. */
const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function isHex(value: unknown, digits: number): value is string {
  return typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value);
}
