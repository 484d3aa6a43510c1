/**
 * Approvers: the people whose signed decisions a migration accepts.
 *
 * A migration that is started with approvers accepts only signed decisions. Otherwise decisions need no signature until
 * support adds the first approver for the client. From then on, the client's decisions must be signed. Support adds and
 * removes approvers with decisions, so the approvers follow from the approvers at the start and from the applied
 * decisions. A person can have several keys, one per device.
 */
import { ed25519 } from '@noble/curves/ed25519';
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils';
import { eitherOf } from '../text/sentences';
import { roleText, ROLES, type Role } from './steps';

/** A key of a person whose decisions a migration accepts. */
export interface Approver {
  readonly role: Role;
  readonly by: string;
  /** Ed25519, 64 hexadecimal digits. */
  readonly publicKey: string;
}

/** An applied decision about an approver. */
export interface ApproverChange {
  readonly kind: 'add-approver' | 'remove-approver';
  readonly approver: Approver;
  /** The person who decided it. Absent in the state of a workflow of an earlier version, like {@link at}. */
  readonly by?: string;
  /** ISO 8601, UTC. */
  readonly at?: string;
}

/** The decisions that must be signed, and the keys that can sign them. */
export interface SigningRules {
  readonly approvers: readonly Approver[];
  /** The roles whose decisions must be signed. */
  readonly mustSign: readonly Role[];
}

/**
 * Returns the signing rules after changes of the approvers.
 *
 * @param atStart the approvers that the migration was started with; null if it was started without approvers
 * @param changes the applied decisions about approvers, oldest first
 */
export function signingRules(
  atStart: readonly Approver[] | null,
  changes: readonly ApproverChange[] | null = null,
): SigningRules {
  const approvers = (changes ?? []).reduce(withChange, atStart ?? []);
  const mustSign = ROLES.filter((role) => atStart !== null || approvers.some((each) => each.role === role));
  return { approvers, mustSign };
}

function withChange(approvers: readonly Approver[], { kind, approver }: ApproverChange): readonly Approver[] {
  const others = approvers.filter(({ publicKey }) => publicKey !== approver.publicKey);
  return kind === 'add-approver' ? [...others, approver] : others;
}

/**
 * Returns all approvers that a migration has had, including those whose key was removed, because their earlier
 * decisions remain in effect. Verifying the audit trail needs the fingerprints of all of them.
 */
export function everyApprover(
  atStart: readonly Approver[] | null,
  changes: readonly ApproverChange[] | null = null,
): readonly Approver[] {
  return (changes ?? []).filter(({ kind }) => kind === 'add-approver').reduce(withChange, atStart ?? []);
}

/** Returns whose decisions must be signed, and who can sign them; null if no decision must be signed. */
export function signingText({ mustSign, approvers }: SigningRules): string | null {
  const [role] = mustSign;
  if (role === undefined) return null;
  const people = (of: string): readonly string[] => [
    ...new Set(approvers.flatMap((each) => (each.role === of ? [`${each.by} (${of})`] : []))),
  ];
  const missing = ROLES.filter((each) => mustSign.includes(each) && people(each).length === 0);
  const whose = mustSign.length === ROLES.length ? 'Decisions' : `Decisions of ${roleText(role)}`;
  return [
    `${whose} must be signed by ${eitherOf(ROLES.flatMap(people))}`,
    ...missing.map((each) => `no approver for ${roleText(each)} has been added yet`),
  ].join('; ');
}

/** Returns the decision that removed this key; undefined if it was not removed, or was added again. */
export function removalOf(
  changes: readonly ApproverChange[] | null = null,
  publicKey: string,
): ApproverChange | undefined {
  const last = changes?.findLast(({ approver }) => approver.publicKey === publicKey);
  return last?.kind === 'remove-approver' ? last : undefined;
}

/** Returns the approver with this key; undefined if there is none. */
export function approverWithKey(approvers: readonly Approver[], publicKey: string): Approver | undefined {
  return approvers.find((each) => each.publicKey === publicKey);
}

/**
 * Returns the fingerprint of a public key: the first 128 bits of its SHA-256, as eight groups of four hexadecimal
 * digits. Another key with the same fingerprint cannot be found in practice.
 */
export function fingerprintOf(publicKey: Uint8Array): string {
  const digits = bytesToHex(sha256(publicKey)).slice(0, 32);
  return (digits.match(/.{4}/g) ?? []).join('-');
}

/** Returns the fingerprint that people compare before they trust the key of an approver. */
export function approverFingerprint({ publicKey }: Pick<Approver, 'publicKey'>): string {
  return fingerprintOf(hexToBytes(publicKey));
}

/** Returns whether only the key's owner can sign. For a key of small order, anyone can make valid signatures. */
export function isPublicKey(value: unknown): value is string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) return false;
  try {
    return !ed25519.ExtendedPoint.fromHex(value).isSmallOrder();
  } catch {
    return false; // It is not a point of the curve.
  }
}
