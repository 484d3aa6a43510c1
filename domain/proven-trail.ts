/** Whether an exported audit trail is what was signed: for whoever has the approvers' public keys, and nothing else. */
import { canonical } from './canonical';
import type { Recorded } from './migration-state';
import { readDecision } from './read-decision';
import type { Approver, LastSigned } from './signatures';
import { signatureObjection, withSigned } from './signatures';

/** An entry as it is exported. */
export interface TrailEntry extends Pick<Recorded, 'decision' | 'signed'> {
  readonly applied: boolean;
}

/**
 * Looks at entry after entry, in their order.
 *
 * @returns what speaks against the next one; null: it was signed as it stands there, or was refused and changed nothing
 */
export function trailVerifier(
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
    const reading = readDecision(signed.message, signed.content, () => '');
    const isWhatWasSigned = 'decision' in reading && canonical(reading.decision) === canonical(decision);
    return isWhatWasSigned ? null : 'something else was signed than stands there';
  };
}
