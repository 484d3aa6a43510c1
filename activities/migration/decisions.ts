/**
 * Records decisions: the only way from a decision to the ledger.
 *
 * For each decision, one transaction verifies it (`domain/decisions/verification.ts`), applies it to the ledger, adds
 * it to the audit trail, and stores what is now released. Verification uses only what the ledger has, because anyone
 * who may write to the Temporal namespace can start a workflow that calls this activity. A decision that fails is
 * recorded as refused and changes nothing else.
 */
import type { Counts } from '../../domain/companies/company-state';
import { openCompanies } from '../../domain/companies/company-state';
import type { CredentialsSupplied, Decision, Outcome } from '../../domain/migration/decision';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { counted } from '../../domain/text/sentences';
import { releaseOf } from '../../domain/decisions/release';
import type { LedgerView } from '../../domain/decisions/verification';
import { ledgerRefusal } from '../../domain/decisions/verification';
import { signatureRefusal } from '../../domain/migration/signatures';
import type { Database } from '../../store';
import {
  acceptFailures,
  acceptStaged,
  advanceRamp,
  changeLimits,
  checkLedgerMark,
  chooseFirstAgain,
  confirmDisabled,
  countCompanies,
  discardStaged,
  isCompanyHandedOver,
  isFirstCompanyMoved,
  lockDecisions,
  readLastSigned,
  readMigration,
  readOutcome,
  readRecordedDecisions,
  recordDecisions,
  requestFirstAgain,
  requestFirstCompany,
  setPaused,
  setReleased,
  stopClaims,
  withdrawConfirmations,
} from '../../store';
import type { ActivityDeps } from '../deps';
import { applyToCompanies, isExceptionDecision } from './exceptions';
import { countWithMark } from './lifecycle';
import { updateWindowOccurrence } from './windows';

export interface RecordedBatch {
  /** The ledger's outcome of each decision, in the given order. It can differ from the outcome in the workflow. */
  readonly outcomes: readonly Outcome[];
  readonly counts: Counts;
}

export function decisionActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    async recordDecisions({
      migrationId,
      recorded,
      ledgerMark = 0,
    }: {
      readonly migrationId: string;
      readonly recorded: readonly DecisionRecord[];
      /** The highest mark of the ledger that the workflow has seen. */
      readonly ledgerMark?: number;
    }): Promise<RecordedBatch> {
      // Checked before the decisions raise the mark. If the ledger is behind, they are recorded but claims are refused.
      await checkLedgerMark(db, migrationId, ledgerMark);
      const outcomes: Outcome[] = [];
      for (const record of recorded) {
        const outcome = await db.transaction().execute((tx) => recordDecision(tx, migrationId, record));
        outcomes.push(outcome);
        const { decision } = record;
        if (!outcome.applied || decision.kind !== 'adjust') continue;
        // A running batch follows the new windows from its next claim.
        if (decision.limits.windows) await updateWindowOccurrence(deps, migrationId);
        if (decision.limits.rampCompanies === 0) await advanceRamp(db, migrationId);
      }
      return { outcomes, counts: await countWithMark(db, migrationId) };
    },
  };
}

/**
 * Verifies, applies and records one decision in a transaction.
 *
 * @returns the outcome in the ledger. A decision that has already been recorded keeps its outcome
 */
async function recordDecision(tx: Database, migrationId: string, record: DecisionRecord): Promise<Outcome> {
  const { decision } = record;
  await lockDecisions(tx, migrationId);
  const earlier = await readOutcome(tx, migrationId, decision.decisionId);
  if (earlier) return earlier;
  const ledger = await readLedgerView(tx, migrationId, record);
  return write(tx, record, ledger, record.outcome.applied ? ledgerRefusal(record, ledger) : null);
}

/**
 * Verifies, applies and records one decision that the ledger has lost, in a transaction.
 *
 * It is verified like any other decision, except that companies may be in an earlier state, because a restored ledger
 * is behind: the first company need not be moved if the service has at least one linked company.
 *
 * @returns the outcome; null if the ledger has the decision. A decision that fails is not recorded, so that it can be
 * verified later
 */
export async function restoreDecision(
  tx: Database,
  migrationId: string,
  record: DecisionRecord,
): Promise<Outcome | null> {
  await lockDecisions(tx, migrationId);
  if (await readOutcome(tx, migrationId, record.decision.decisionId)) return null;
  const ledger = {
    ...(await readLedgerView(tx, migrationId, record)),
    isFirstCompanyMoved: await isCompanyHandedOver(tx, migrationId),
    openCompanies: 0,
  };
  const refusal = record.outcome.applied ? ledgerRefusal(record, ledger) : null;
  if (refusal !== null) return { ...record.outcome, applied: false, text: refusal };
  return write(tx, record, ledger, null);
}

/** Applies a decision unless it is refused, and records it. */
async function write(
  tx: Database,
  record: DecisionRecord,
  ledger: LedgerView,
  refusal: string | null,
): Promise<Outcome> {
  const { decision } = record;
  const { migrationId } = ledger;
  const isApplied = record.outcome.applied && refusal === null;
  const text =
    isApplied && decision.kind !== 'unreadable'
      ? await apply(tx, migrationId, decision, record.outcome)
      : (refusal ?? record.outcome.text);
  const outcome: Outcome = { ...record.outcome, applied: isApplied, text };
  const verified = isApplied || isValidlySigned(record, ledger);
  await recordDecisions(tx, migrationId, [{ ...record, outcome, verified }]);
  if (!isApplied) await discardStaged(tx, migrationId, decision.decisionId);
  if (isApplied && CHANGES_RELEASE.includes(decision.kind))
    await setReleased(tx, migrationId, releaseOf(ledger.route, await readRecordedDecisions(tx, migrationId)));
  return outcome;
}

const CHANGES_RELEASE: readonly DecisionRecord['decision']['kind'][] = ['step', 'time', 'first-company'];

/** A refused decision with a valid signature must not be sent again later, so its signing time counts. */
function isValidlySigned({ signed }: DecisionRecord, { migrationId, rules, lastSigned }: LedgerView): boolean {
  const approvers = rules?.approvers;
  return !!approvers && signatureRefusal({ migrationId, approvers }, signed ?? null, lastSigned) === null;
}

async function readLedgerView(tx: Database, migrationId: string, record: DecisionRecord): Promise<LedgerView> {
  const migration = await readMigration(tx, migrationId);
  if (!migration) throw new Error(`migration ${migrationId} is not in the ledger`);
  const { decision } = record;
  const isSignOff = decision.kind === 'step' && decision.step === 'complete-migration';
  return {
    migrationId,
    route: migration.route,
    rules: migration.rules,
    suppliedBy: migration.suppliedBy,
    lastSigned: record.signed ? await readLastSigned(tx, migrationId) : {},
    recorded: await readRecordedDecisions(tx, migrationId),
    isFirstCompanyMoved: await isFirstCompanyMoved(tx, migrationId),
    openCompanies: isSignOff ? openCompanies(await countCompanies(tx, migrationId)) : 0,
  };
}

/**
 * Applies a verified decision to the ledger.
 *
 * @returns the text of the outcome
 */
async function apply(tx: Database, migrationId: string, decision: Decision, outcome: Outcome): Promise<string> {
  if (isExceptionDecision(decision)) return applyToCompanies(tx, migrationId, decision, outcome);
  switch (decision.kind) {
    case 'sync-disabled':
      await confirmDisabled(tx, { migrationId, companies: decision.companies, by: decision.by, at: outcome.at });
      break;
    case 'pause':
      await setPaused(tx, migrationId, true);
      break;
    case 'resume':
      // A resume accepts the failures so far, because the person who resumes the migration has seen them.
      await acceptFailures(tx, migrationId);
      await chooseFirstAgain(tx, migrationId);
      await setPaused(tx, migrationId, false);
      break;
    case 'step':
      if (decision.verdict === 'reject') await applyRejection(tx, migrationId, decision);
      break;
    case 'time':
      if (decision.windows) await changeLimits(tx, migrationId, { windows: decision.windows });
      break;
    case 'first-company':
      await requestFirstCompany(tx, migrationId, decision.reference);
      break;
    case 'adjust':
      await changeLimits(tx, migrationId, decision.limits);
      break;
    case 'cancel':
      await stopClaims(tx, migrationId);
      break;
    case 'credentials-supplied':
      return acceptCredentials(tx, migrationId, decision, outcome);
    case 'application-supplied':
    case 'manifest-amended':
      break;
  }
  return outcome.text;
}

/** Puts the credentials in use that the decision brings. Their number comes from the ledger, not from the message. */
async function acceptCredentials(
  tx: Database,
  migrationId: string,
  { decisionId, companies }: CredentialsSupplied,
  { text }: Outcome,
): Promise<string> {
  const accepted = await acceptStaged(tx, migrationId, { decisionId, replaces: false });
  if (accepted === companies) return text;
  return `${counted(accepted, 'credential')} supplied, although the decision says ${companies}`;
}

async function applyRejection(
  tx: Database,
  migrationId: string,
  { step, afterwards }: Extract<Decision, { readonly kind: 'step' }>,
): Promise<void> {
  if (step === 'disable-syncing') await withdrawConfirmations(tx, migrationId);
  if (step !== 'migrate-first-company') return;
  if (afterwards?.next === 'same-company') await requestFirstAgain(tx, migrationId, 'all');
  if (afterwards?.next === 'another-company') await requestFirstCompany(tx, migrationId, afterwards.reference);
}
