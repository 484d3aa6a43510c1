/**
 * Verifies decisions, using only facts in the ledger: the rules, the earlier decisions and the states of the companies.
 *
 * A workflow applies a decision as soon as it arrives. The ledger then verifies it again, because anyone who may write
 * to the Temporal namespace can start a workflow with input of their choice.
 */
import type { Decision } from '../migration/decision';
import type { Approval, DecisionRecord, Ending } from '../migration/migration-state';
import type { DecisionRules } from '../migration/plan';
import { parseDecision } from '../migration/parse-decision';
import {
  canonicalJson,
  recordedSignature,
  signatureRefusal,
  type LastSigned,
  type MigrationSigning,
  type SignedMessage,
  signingOf,
} from '../migration/signatures';
import { STEP_RULES, STEPS, type Step } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { missingApprovals } from './approvals';
import { approverRefusal } from './approver-changes';
import { fourEyesRefusal, missingDigest } from './guards';
import { preconditionRefusal, type DecisionFacts } from './preconditions';
import { clientOnlyRefusal } from './roles';
import type { RecordedDecisions } from './release';

/** The ledger's view of a migration. */
export interface LedgerView extends Pick<
  DecisionFacts,
  'counts' | 'firstCompany' | 'pausedItself' | 'applicationRejected' | 'pausedByPeople'
> {
  readonly migrationId: string;
  readonly route: Route;
  /** The rules that were stored when the migration was created; null if an older version created it. */
  readonly rules: DecisionRules | null;
  readonly suppliedBy: string;
  readonly lastSigned: LastSigned;
  readonly recorded: RecordedDecisions;
  /** How the migration was closed; null if it was not. */
  readonly ending: Ending | null;
  /** True if a batch run has begun. Until then, support can still reject the first company that it has approved. */
  readonly hasBatchBegun: boolean;
}

/** Returns why the ledger refuses a decision that the workflow has applied; null if it accepts the decision. */
export function ledgerRefusal(record: DecisionRecord, ledger: LedgerView): string | null {
  const refusal = restoredRefusal(record, ledger);
  if (refusal !== null || record.decision.kind === 'unreadable') return refusal;
  return clientOnlyRefusal(ledger.route, record.decision);
}

/**
 * Returns why the ledger refuses to restore a decision that it has lost; null if it accepts the decision. Does not
 * apply `clientOnlyRefusal`, because an earlier version without this rule can have recorded the decision as applied.
 */
export function restoredRefusal(record: DecisionRecord, ledger: LedgerView): string | null {
  const { decision, outcome } = record;
  const { rules, recorded, suppliedBy } = ledger;
  if (decision.kind === 'unreadable') return 'the message could not be read';
  if (rules === null)
    return 'an older version of Tokenferry created this migration, so no decision is accepted; support must terminate it and start a new migration with another label';
  const refusal =
    signedRecordRefusal(decision, record.signed ?? null, ledger) ??
    preconditionRefusal(decision, ledgerFacts(decision, ledger), outcome.at) ??
    approverRefusal(decision, ledgerSigning(ledger)) ??
    missingManifest(decision, ledger) ??
    missingDigest(decision, rules.requireDigest);
  if (refusal !== null || !rules.fourEyes || decision.kind !== 'step' || decision.verdict !== 'approve') return refusal;
  return fourEyesRefusal(decision, { ...recorded, suppliers: [suppliedBy, ...recorded.suppliers] });
}

/**
 * Refuses to accept details without a manifest. The workflow needs no such check, because its preflight finds the
 * problem; the ledger does not store the result of the preflight.
 */
function missingManifest(decision: Decision, { counts }: LedgerView): string | null {
  return isOf(decision, 'supply-details') && counts?.total === 0 ? 'no manifest has been supplied yet' : null;
}

/** Returns the ledger's signing rules: the approvers at the start, with the changes by recorded decisions. */
export function ledgerSigning({
  migrationId,
  rules,
  recorded,
}: Pick<LedgerView, 'migrationId' | 'rules' | 'recorded'>): MigrationSigning {
  return signingOf(migrationId, rules?.approvers ?? null, recorded.approverChanges);
}

/** Returns the facts in the ledger, which knows the steps only from their approvals. */
function ledgerFacts(decision: Decision, ledger: LedgerView): DecisionFacts {
  const { route, recorded, ending, hasBatchBegun, ...facts } = ledger;
  const accepted = recorded.detailsChanged
    ? recorded.approvals.filter(({ step }) => step !== 'supply-details')
    : recorded.approvals;
  const isApproved = (approvals: typeof accepted) => (step: Step) => missingApprovals({ approvals }, step).length === 0;
  const reached = STEPS.find((step) => !isApproved(recorded.approvals)(step)) ?? 'complete-migration';
  // In the self-service route, the ledger cannot tell step 1 from step 6. It accepts every retry, because in step 1, a
  // retry repeats the check of the details.
  const selfServiceStep = decision.kind === 'retry' ? 'supply-details' : 'complete-migration';
  const hasEnded = (step: Step): boolean =>
    step === 'migrate-first-company' ? hasBatchBegun : STEP_RULES[step].approvers.length > 0;
  const isRepeated = accepted.some((approval) => isApprovalOf(decision, approval));
  const isReopened = (step: Step): boolean =>
    (isRepeated && isOf(decision, step)) || (step === 'schedule' && isReopenedByReset(decision));
  return {
    ...facts,
    route,
    closed: recorded.ended ?? ending,
    step: route === 'self-service' ? selfServiceStep : reached,
    ended: STEPS.filter((step) => hasEnded(step) && isApproved(accepted)(step) && !isReopened(step)),
    approvals: accepted.filter((approval) => !isApprovalOf(decision, approval)),
    hasProposal: recorded.proposal !== null,
  };
}

/**
 * Returns whether a decision proposes a start time. For such a decision, the ledger treats step 2 as open: once
 * companies have moved, a workflow accepts a start time only after it was reset and step 2 is open again. The ledger
 * then withdraws the release until the schedule is approved again.
 */
const isReopenedByReset = ({ kind }: Decision): boolean => kind === 'time';

/**
 * Returns whether a decision repeats an approval. The ledger accepts such a decision, although it releases nothing new,
 * because the workflow needs the approval again if it was reset, or if Temporal's database was restored to an older
 * state.
 */
function isApprovalOf(decision: Decision, { step, role }: Pick<Approval, 'step' | 'role'>): boolean {
  return isOf(decision, step) && decision.role === role;
}

function isOf(decision: Decision, step: Step): boolean {
  return decision.kind === 'step' && decision.verdict === 'approve' && decision.step === step;
}

function signedRecordRefusal(
  decision: Decision,
  signed: SignedMessage | null,
  { lastSigned, ...ledger }: Pick<LedgerView, 'migrationId' | 'rules' | 'recorded' | 'lastSigned'>,
): string | null {
  const refusal = signatureRefusal(ledgerSigning(ledger), decision.role, signed, lastSigned);
  return refusal ?? (signed ? contentMismatch(decision, signed) : null);
}

/**
 * Removes an invalid signature from a record if the ledger does not require a signature. If it stayed, its time would
 * be stored as the latest signing time of a key whose owner did not sign the record.
 */
export function withoutInvalidSignature(record: DecisionRecord, ledger: LedgerView): DecisionRecord {
  const { decision, signed = null, ...rest } = record;
  if (decision.kind === 'unreadable' || !signed) return record;
  const isKept =
    ledgerSigning(ledger).mustSign.includes(decision.role) ||
    (recordedSignature(ledgerSigning(ledger), decision.role, signed) !== null &&
      contentMismatch(decision, signed) === null);
  return isKept ? record : { decision, ...rest };
}

/** Returns whether the signature of a record is valid. Its time is then recorded, so that it counts only once. */
export function isValidlySigned({ decision, signed }: DecisionRecord, ledger: LedgerView): boolean {
  if (decision.kind === 'unreadable' || !signed) return false;
  return signedRecordRefusal(decision, signed, ledger) === null;
}

/** Returns a message if the recorded decision differs from the signed decision; null if they are the same. */
export function contentMismatch(decision: DecisionRecord['decision'], signed: SignedMessage): string | null {
  const parsed = parseDecision(signed.message, signed.content, () => '');
  const isAsSigned = 'decision' in parsed && canonicalJson(parsed.decision) === canonicalJson(decision);
  return isAsSigned ? null : 'the signed decision differs from the recorded decision';
}
