/**
 * The audit trail. Splits decisions into batches, creates the record for a terminated migration, and verifies an
 * exported trail. Verification needs only the approvers' public keys.
 */
import { utf8ToBytes } from '@noble/hashes/utils';
import type { ApproverDecision, MigrationControl } from '../migration/decision';
import type { DecisionRecord } from '../migration/migration-state';
import {
  approverFingerprint,
  approverWithKey,
  everyApprover,
  signingRules,
  type Approver,
  type ApproverChange,
} from '../migration/approvers';
import {
  canonicalJson,
  isSignedBy,
  parseSignature,
  signatureRefusal,
  verifies,
  withLastSigned,
  type LastSigned,
  type Signature,
  type SignedMessage,
} from '../migration/signatures';
import { isApproverDecision } from './approver-changes';
import { ROLES, type Role } from '../migration/steps';
import { contentMismatch } from './verification';
import { fieldsOf } from '../text/untrusted-text';

/**
 * Maximum length of a batch, in characters of JSON. A character takes at most 3 bytes, and Temporal accepts 2 MB per
 * payload. A longer decision is recorded in a separate batch.
 */
const MAX_BATCH_LENGTH = 300_000;

/** Returns the oldest decisions that fit into one batch, but at least one decision if there are any. */
export function nextAuditBatch<T extends DecisionRecord>(unrecorded: readonly T[]): readonly T[] {
  let length = 0;
  let count = 0;
  for (const record of unrecorded) {
    length += JSON.stringify(record).length;
    if (count > 0 && length > MAX_BATCH_LENGTH) break;
    count += 1;
  }
  return unrecorded.slice(0, count);
}

/**
 * Returns the cancellation that is recorded when a migration is closed after it was terminated in Temporal. No person
 * makes this decision.
 *
 * @param decisionId must be random, so that a message with the same id cannot be sent first
 * @param requestedBy the person who asked to close the migration, whose name is not verified; null for the sweep
 * @param at ISO 8601, UTC
 */
export function terminationRecord(decisionId: string, requestedBy: string | null, at: string): DecisionRecord {
  // Says "interrupted" and not "terminated", because the workflow might have failed or timed out instead.
  const stopped = 'the migration was interrupted before it was complete';
  const reason =
    requestedBy === null ? stopped : `${stopped}; closed at the request of ${requestedBy} (name not verified)`;
  const decision: MigrationControl = { kind: 'cancel', decisionId, role: 'support', by: 'Tokenferry', reason };
  return { decision, outcome: { decisionId, applied: true, text: 'cancelled', at } };
}

/** An entry of an exported trail. */
export interface TrailEntry extends Pick<DecisionRecord, 'decision' | 'signed'> {
  readonly applied: boolean;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The last line of an exported trail. Its exporter signs it, so that every later change to the file is detected. */
export interface TrailEnd {
  readonly migrationId: string;
  readonly entries: number;
  /** Digest of all lines before the last line, each with its line feed. Hexadecimal. */
  readonly sha256: string;
  readonly exportedBy: string;
  readonly exportedAt: string;
}

export interface SignedTrailEnd {
  readonly end: TrailEnd;
  readonly signature: unknown;
}

/** Returns the bytes that the exporter signs. */
export function endBytesToSign(end: TrailEnd): Uint8Array {
  return utf8ToBytes(`tokenferry trail 1\n${canonicalJson(end)}`);
}

/** Returns whether the last line of an exported trail names the key of one of these approvers. */
export function isEndOfApprover({ signature }: SignedTrailEnd, approvers: readonly Approver[]): boolean {
  const { publicKey } = parseSignature(signature) ?? { publicKey: '' };
  return approverWithKey(approvers, publicKey) !== undefined;
}

/** Returns whether the last line of an exported trail is signed with the key that it names. */
export function isEndSigned({ end, signature: given }: SignedTrailEnd): boolean {
  const signature = parseSignature(given);
  return signature !== null && verifies(signature, endBytesToSign(end));
}

/** Returns what is wrong with the last line of an exported trail; null if an approver signed exactly these lines. */
export function trailEndProblem(
  { end, signature: given }: SignedTrailEnd,
  lines: Pick<TrailEnd, 'migrationId' | 'entries' | 'sha256'>,
  approvers: readonly Approver[],
): string | null {
  const signature: Signature | null = parseSignature(given);
  const signer = approvers.find(({ publicKey }) => publicKey === signature?.publicKey);
  if (!signature || !signer)
    return 'the last line of the file is not signed by an approver whom you named with --approver, or whom support added; if you trust the person who exported the file, name this person with --approver too';
  const matches = canonicalJson({ ...end, ...lines }) === canonicalJson(end);
  if (!matches || !verifies(signature, endBytesToSign(end)))
    return `the file differs from what ${signer.by} exported: a line was changed, added or removed`;
  return end.exportedBy === signer.by
    ? null
    : `the last line says that ${end.exportedBy} exported the file, but its key belongs to ${signer.by}; no line was changed, so ask ${signer.by} who exported it`;
}

/** Checks the form of an entry. */
export function isTrailEntry(value: unknown): value is TrailEntry {
  const { decision, applied } = fieldsOf(value);
  return typeof applied === 'boolean' && typeof fieldsOf(decision)['decisionId'] === 'string';
}

/** Checks the form of the last line. */
export function isTrailEnd(value: unknown): value is SignedTrailEnd {
  const { end } = fieldsOf(value);
  return typeof end === 'object' && end !== null;
}

/**
 * The result of verifying an entry. `signed`: an approver has signed it. `unverified`: it was applied without a valid
 * signature, because its role need not sign. `refused`: it was not applied, and has no valid signature. `none`: the
 * trail does not prove it, because a required signature is missing or invalid, the recorded decision differs from the
 * signed one, or the trail contains the decision twice.
 */
export type EntryProof =
  | { readonly proof: 'signed' | 'unverified' | 'refused' }
  | { readonly proof: 'none'; readonly why: string };

export interface TrailVerifier {
  /** Verifies the next entry. */
  verify(entry: TrailEntry): EntryProof;
  /** Returns the approvers after the entries so far. */
  approvers(): readonly Approver[];
  /** Returns the approvers that signed decisions have added to the given ones. */
  added(): readonly Approver[];
  /**
   * Returns the approvers whose keys must be given as well: they have signed decisions that must be signed, but only
   * unverified decisions of support have added their keys.
   */
  notGiven(): readonly Approver[];
  /**
   * Returns the people in whose name decisions are validly signed with keys that were neither given nor added in the
   * trail, for example the keys of approvers at the start. Only these people can say whether the keys are theirs.
   */
  unknown(): readonly Omit<Approver, 'publicKey'>[];
}

/**
 * Creates a verifier that knows these approvers, and also trusts the approvers that support adds.
 *
 * If an approver for support is given, all applied decisions must be signed. If all given approvers are for the client,
 * only the client's decisions must be signed, because support need not sign in such a migration. An unsigned decision
 * can remove an approver, but cannot add a new one.
 */
export function createTrailVerifier(migrationId: string, given: readonly Approver[]): TrailVerifier {
  const isSupportGiven = given.some(({ role }) => role === 'support');
  const mustSign: readonly Role[] = isSupportGiven ? ROLES : ['client'];
  let changes: readonly ApproverChange[] = [];
  /** The changes by decisions of support that are not verified, because no key of support is given. */
  let unverified: readonly ApproverChange[] = [];
  const notGiven = new Map<string, Approver>();
  const addedKeys = new Set<string>();
  const unknown = new Map<string, Omit<Approver, 'publicKey'>>();
  let lastSigned: LastSigned = {};
  const seen = new Set<string>();

  function verify(entry: TrailEntry): EntryProof {
    const { decision, applied } = entry;
    if (seen.has(decision.decisionId)) return { proof: 'none', why: 'this decision is in the audit trail twice' };
    seen.add(decision.decisionId);
    if (decision.kind === 'add-approver') addedKeys.add(decision.approver.publicKey);
    const result = proofOf(entry);
    if (!applied || !isApproverDecision(decision)) return result;
    if (isTrusted(decision, result.proof)) changes = [...changes, decision];
    if (decision.role === 'support' && result.proof === 'unverified') unverified = [...unverified, decision];
    return result;
  }

  function proofOf({ decision, signed, applied }: TrailEntry): EntryProof {
    const role = decision.role ?? 'client';
    const unproven = (why: string): EntryProof => {
      if (!applied) return { proof: 'refused' };
      return mustSign.includes(role) ? { proof: 'none', why } : { proof: 'unverified' };
    };
    if (!signed) return unproven('this decision was applied but is not signed');
    const { approvers } = signingRules(given, changes);
    const refusal = signatureRefusal({ migrationId, approvers, mustSign: ROLES }, role, signed, lastSigned);
    if (refusal !== null) {
      const { publicKey } = signed.signature;
      if (approverWithKey(everyApprover(given, changes), publicKey)) return unproven(refusal);
      const owner = approverWithKey(signingRules(null, unverified).approvers, publicKey);
      const result = unproven(unknownKeyText(owner));
      if (result.proof !== 'none') return result;
      if (owner) notGiven.set(publicKey, owner);
      else if (!addedKeys.has(publicKey)) addUnknown(decision, signed);
      return result;
    }
    lastSigned = withLastSigned(lastSigned, signed);
    const mismatch = contentMismatch(decision, signed);
    return mismatch === null ? { proof: 'signed' } : { proof: 'none', why: mismatch };
  }

  function addUnknown(decision: TrailEntry['decision'], signed: SignedMessage): void {
    if (decision.kind === 'unreadable' || contentMismatch(decision, signed) !== null) return;
    const { role, by } = decision;
    if (isSignedBy(signed.signature.publicKey, migrationId, signed)) unknown.set(`${role} ${by}`, { role, by });
  }

  function isTrusted({ kind, approver, role }: ApproverDecision, proof: EntryProof['proof']): boolean {
    if (role !== 'support' || proof === 'none') return false;
    if (kind === 'remove-approver' || proof === 'signed') return true;
    return canonicalJson(approverWithKey(given, approver.publicKey)) === canonicalJson(approver);
  }

  return {
    verify,
    approvers: () => signingRules(given, changes).approvers,
    added: () =>
      changes.flatMap(({ kind, approver }) =>
        kind === 'add-approver' && !approverWithKey(given, approver.publicKey) ? [approver] : [],
      ),
    notGiven: () => [...notGiven.values()],
    unknown: () => [...unknown.values()],
  };
}

/** @param owner the approver for whom support has added the key according to the trail; undefined if there is none */
function unknownKeyText(owner: Approver | undefined): string {
  return owner
    ? `this decision is signed with a key that you did not pass with --approver: ${approverFingerprint(owner)}, which support added for ${owner.by} (${owner.role})`
    : 'this decision is signed with a key that does not belong to an approver whom you passed with --approver';
}
