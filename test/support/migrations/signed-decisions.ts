/** Records of decisions of a signed migration, as its workflow sends them to the ledger, or as an attacker would. */
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES, type DecisionRules } from '../../../domain/migration/plan';
import { bytesToSign } from '../../../domain/migration/signatures';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';

/** The signing keys of the approvers. */
export const SAM = parseSigningKey(new Secret(createSigningKey('Sam')));
export const CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
export const BY_SAM = { role: 'support', by: 'Sam' } as const;
export const BY_CLEO = { role: 'client', by: 'Cleo' } as const;

/** The rules of a migration that accepts only decisions that Sam or Cleo has signed. */
export const SIGNED: DecisionRules = {
  ...DEFAULT_DECISION_RULES,
  approvers: [
    { ...BY_SAM, publicKey: SAM.publicKey },
    { ...BY_CLEO, publicKey: CLEO.publicKey },
  ],
};

/** The time that the records state for the outcomes, and that the client proposes as the start. */
const DECIDED_AT = new Date().toISOString();

type Key = typeof SAM | null;
let sent = 0;

/**
 * Returns the record of a decision. Its outcome says that the decision was applied.
 *
 * @param key signs the decision; null leaves it unsigned
 */
export function recordOf(id: string, message: DecisionMessage, fields: object, key: Key): DecisionRecord {
  sent += 1;
  const content = { decisionId: `d-${sent}`, signedAt: new Date(Date.now() + sent).toISOString(), ...fields };
  const parsed = parseDecision(message, content, () => '');
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  const { decision } = parsed;
  const outcome = { decisionId: decision.decisionId, applied: true, text: 'done', at: DECIDED_AT };
  if (!key) return { decision, outcome };
  const signature = { publicKey: key.publicKey, value: key.sign(bytesToSign(id, { message, content })) };
  return { decision, outcome, signed: { message, content, signature } };
}

/** Returns the decisions that end steps 1 to 3. */
export function steps1To3(id: string, { sam, cleo }: { readonly sam: Key; readonly cleo: Key }): DecisionRecord[] {
  return [
    recordOf(id, 'approve', { step: 'supply-details', ...BY_SAM }, sam),
    recordOf(id, 'proposeTime', { startAt: DECIDED_AT, ...BY_CLEO }, cleo),
    recordOf(id, 'approve', { step: 'schedule', ...BY_CLEO }, cleo),
    recordOf(id, 'approve', { step: 'schedule', ...BY_SAM }, sam),
    recordOf(id, 'approve', { step: 'update-application', ...BY_CLEO }, cleo),
    recordOf(id, 'approve', { step: 'update-application', ...BY_SAM }, sam),
  ];
}
