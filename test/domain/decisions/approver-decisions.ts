/** Approvers, and signed or unsigned decisions that add or remove approvers, pause or resume. */
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import type { Approver } from '../../../domain/migration/approvers';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES, type DecisionRules } from '../../../domain/migration/plan';
import { bytesToSign, parseSigned } from '../../../domain/migration/signatures';
import { createSigningKey, parseSigningKey, Secret, type SigningKey } from '../../../security';
import { AT, stateAt } from '../../support/migrations/migration-states';
import { BY_CLEO, BY_SAM, CLEO, SAM } from '../../support/migrations/signed-decisions';

export const ID = 'acme.xero';
export const NEW_CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
export const DANA = parseSigningKey(new Secret(createSigningKey('Dana')));
export const BY_DANA = { role: 'client', by: 'Dana' } as const;
export const OF_CLEO: Approver = { ...BY_CLEO, publicKey: CLEO.publicKey };
export const OF_NEW_CLEO: Approver = { ...BY_CLEO, publicKey: NEW_CLEO.publicKey };
export const OF_DANA: Approver = { ...BY_DANA, publicKey: DANA.publicKey };
export const OF_SAM: Approver = { ...BY_SAM, publicKey: SAM.publicKey };
export const SIGNED_BY_SAM: DecisionRules = { ...DEFAULT_DECISION_RULES, approvers: [OF_SAM] };

type Key = SigningKey | null;
export type SentDecision = readonly [message: DecisionMessage, fields: object, key: Key];

/** The number of decisions sent so far. The last decision has the id `d-<sent>`, unless its fields give another. */
export let sent = 0;

export function input([message, fields, key]: SentDecision): Readonly<Record<string, unknown>> {
  sent += 1;
  const content = { decisionId: `d-${sent}`, signedAt: new Date(Date.parse(AT) + sent).toISOString(), ...fields };
  const value = key?.sign(bytesToSign(ID, { message, content }));
  return key ? { ...content, signature: { publicKey: key.publicKey, value } } : content;
}

export function receive(state: MigrationState, sentDecision: SentDecision, rules: DecisionRules): MigrationState {
  const [message] = sentDecision;
  const content = input(sentDecision);
  const parsed = parseDecision(message, content, () => '');
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  return decide(state, parsed.decision, AT, rules, { migrationId: ID, signed: parseSigned(message, content) });
}

/** Sends decisions in order. Returns the last state, and for each decision `applied` or why it was refused. */
export function run(rules: DecisionRules, ...sentDecisions: readonly SentDecision[]) {
  let state = stateAt('schedule');
  const results = sentDecisions.map((sentDecision) => {
    state = receive(state, sentDecision, rules);
    const outcome = outcomeOf(state, `d-${sent}`);
    return outcome?.applied ? 'applied' : outcome?.text;
  });
  return { state, results };
}

export const add = (approver: Approver, key: Key = null): SentDecision => ['addApprover', { approver, ...BY_SAM }, key];
export const remove = (approver: Approver, key: Key = null): SentDecision => [
  'removeApprover',
  { approver, ...BY_SAM },
  key,
];
export const pauseBy = (by: object, key: Key): SentDecision => ['pause', by, key];
export const resumeBy = (by: object, key: Key): SentDecision => ['resume', by, key];
