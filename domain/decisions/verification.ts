/**
 * Verifies decisions, using only the rules and the earlier decisions in the ledger.
 *
 * A workflow applies a decision as soon as it arrives. The ledger then verifies it again, because anyone who may write
 * to the Temporal namespace can start a workflow with input of their choice.
 */
import type { DecisionRecord } from '../migration/migration-state';
import type { DecisionRules } from '../migration/plan';
import { parseDecision } from '../migration/parse-decision';
import type { Approver, LastSigned, SignedMessage } from '../migration/signatures';
import { canonicalJson, signatureRefusal } from '../migration/signatures';
import type { Route } from '../../platforms/platforms';
import { fourEyesRefusal, missingDigest } from './guards';
import type { LedgerFacts, RecordedDecisions } from './release';
import { orderRefusal } from './release';
import { roleRefusal } from './roles';

/** The ledger's view of a migration. */
export interface LedgerView extends LedgerFacts {
  readonly migrationId: string;
  readonly route: Route;
  /** The rules that were stored when the migration was created; null if an older version created it. */
  readonly rules: DecisionRules | null;
  readonly suppliedBy: string;
  readonly lastSigned: LastSigned;
  readonly recorded: RecordedDecisions;
}

/** Returns why the ledger refuses a decision that the workflow has applied; null if it accepts the decision. */
export function ledgerRefusal(record: DecisionRecord, ledger: LedgerView): string | null {
  const { decision } = record;
  const { rules, route, recorded, suppliedBy } = ledger;
  if (decision.kind === 'unreadable') return 'the message could not be read';
  if (rules === null) return 'the ledger has no decision rules for this migration; start a new migration';
  const refusal =
    (rules.approvers && signedRecordRefusal(ledger.migrationId, rules.approvers, record, ledger.lastSigned)) ??
    roleRefusal(route, decision) ??
    orderRefusal(decision, recorded, ledger) ??
    missingDigest(decision, rules.requireDigest);
  if (refusal !== null || !rules.fourEyes || decision.kind !== 'step' || decision.verdict !== 'approve') return refusal;
  return fourEyesRefusal(decision, { ...recorded, suppliers: [suppliedBy, ...recorded.suppliers] });
}

/** Returns why a record does not prove its decision; null if an approver signed exactly this decision. */
function signedRecordRefusal(
  migrationId: string,
  approvers: readonly Approver[],
  { decision, signed }: DecisionRecord,
  lastSigned: LastSigned,
): string | null {
  const refusal = signatureRefusal({ migrationId, approvers }, signed ?? null, lastSigned);
  return refusal ?? (signed ? contentMismatch(decision, signed) : null);
}

/** Returns what is wrong if the recorded decision is not the signed one; null if it is. */
export function contentMismatch(decision: DecisionRecord['decision'], signed: SignedMessage): string | null {
  const parsed = parseDecision(signed.message, signed.content, () => '');
  const isAsSigned = 'decision' in parsed && canonicalJson(parsed.decision) === canonicalJson(decision);
  return isAsSigned ? null : 'the signed decision differs from the recorded one';
}
