/** Whether an exported audit trail is what was signed: for whoever has the approvers' public keys, and nothing else. */
import { utf8ToBytes } from '@noble/hashes/utils';
import { canonicalJson } from '../migration/canonical-json';
import type { Recorded } from '../migration/migration-state';
import { parseDecision } from '../migration/parse-decision';
import type { Approver, LastSigned, Signature } from '../migration/signatures';
import { readSignature, signatureObjection, verifies, withSigned } from '../migration/signatures';

/** An entry as it is exported. */
export interface TrailEntry extends Pick<Recorded, 'decision' | 'signed'> {
  readonly applied: boolean;
}

/** What whoever exports a trail says of the whole of it, and signs: nothing in it is altered or left out from then on. */
export interface TrailEnd {
  readonly migrationId: string;
  readonly entries: number;
  /** Of the lines before, each with its line feed; hexadecimal. */
  readonly sha256: string;
  readonly exportedBy: string;
  readonly exportedAt: string;
}

/** What the signature under an exported trail is made of. */
export function signedEnd(end: TrailEnd): Uint8Array {
  return utf8ToBytes(`tokenferry trail 1\n${canonicalJson(end)}`);
}

/** What speaks against the last line of an exported trail; null: one of these people has signed just these lines. */
export function trailEndProblem(
  { end, signature: given }: { readonly end: TrailEnd; readonly signature: unknown },
  lines: Pick<TrailEnd, 'migrationId' | 'entries' | 'sha256'>,
  approvers: readonly Approver[],
): string | null {
  const signature: Signature | null = readSignature(given);
  const signer = approvers.find(({ publicKey }) => publicKey === signature?.publicKey);
  if (!signature || !signer) return 'the file is signed as a whole, but not with one of these keys';
  const isOfThese = canonicalJson({ ...end, ...lines }) === canonicalJson(end) && end.exportedBy === signer.by;
  return isOfThese && verifies(signature, signedEnd(end))
    ? null
    : `the file is not as ${signer.by} has exported it: something was altered, added or left out`;
}

/** By its form. */
export function isTrailEntry(value: unknown): value is TrailEntry {
  const { decision, applied } = (value ?? {}) as { readonly decision?: unknown; readonly applied?: unknown };
  if (typeof applied !== 'boolean' || typeof decision !== 'object' || decision === null) return false;
  return 'decisionId' in decision && typeof decision.decisionId === 'string';
}

/** By its form. */
export function isTrailEnd(value: unknown): value is { readonly end: TrailEnd; readonly signature: unknown } {
  const { end } = (value ?? {}) as { readonly end?: unknown };
  return typeof end === 'object' && end !== null;
}

/**
 * Looks at entry after entry, in their order.
 *
 * @returns what speaks against the next one; null: it was signed as it stands there, or was refused and changed nothing
 */
export function createTrailVerifier(
  migrationId: string,
  approvers: readonly Approver[],
): (entry: TrailEntry) => string | null {
  let lastSigned: LastSigned = {};
  const seen = new Set<string>();
  return ({ decision, signed, applied }) => {
    if (seen.has(decision.decisionId)) return 'it stands in the trail twice';
    seen.add(decision.decisionId);
    if (!signed) return applied ? 'it was applied, and is not signed' : null;
    const objection = signatureObjection({ migrationId, approvers }, signed, lastSigned);
    if (objection !== null) return applied ? objection : null;
    lastSigned = withSigned(lastSigned, signed);
    const reading = parseDecision(signed.message, signed.content, () => '');
    const isWhatWasSigned = 'decision' in reading && canonicalJson(reading.decision) === canonicalJson(decision);
    return isWhatWasSigned ? null : 'something else was signed than stands there';
  };
}
