/**
 * Records decisions. A decision that was sent to a migration changes the ledger only here.
 *
 * For each decision, one transaction verifies it (`domain/decisions/verification.ts`), applies it to the ledger, adds
 * it to the audit trail, and stores what is now released. Verification uses only what the ledger has, because anyone
 * who may write to the Temporal namespace can start a workflow that calls this activity. A decision that fails
 * verification is recorded as refused and changes nothing else.
 */
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { Counts } from '../../domain/companies/company-state';
import { NO_COUNTS } from '../../domain/companies/company-state';
import type { CredentialsSupplied, Decision, Outcome } from '../../domain/migration/decision';
import { malformedRecord, parseRecord, withBoundedTime } from '../../domain/migration/decision-record';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { counted } from '../../domain/text/sentences';
import { releaseOf } from '../../domain/decisions/release';
import type { LedgerView } from '../../domain/decisions/verification';
import { ledgerRefusal, signedRecordRefusal } from '../../domain/decisions/verification';
import type { Database } from '../../store';
import {
  acceptFailures,
  acceptStaged,
  advanceRamp,
  changeLimits,
  checkLedgerMark,
  clearFailedFirst,
  confirmDisabled,
  countCompanies,
  discardStaged,
  hasLinkedCompany,
  lockDecisions,
  readClock,
  readFirstCompany,
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
import { FIRST_COMPANY_RUN } from '../companies/first-company';
import { applyToCompanies, isExceptionDecision } from './exceptions';
import { countWithMark } from './lifecycle';
import { updateWindowOccurrence } from './windows';

export interface RecordingResult {
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
    }): Promise<RecordingResult> {
      // Checked before the decisions raise the mark. If the ledger is behind, they are recorded but claims are refused.
      await checkLedgerMark(db, migrationId, ledgerMark);
      const requestedAt = new Date(Math.min(activityInfo().scheduledTimestampMs, (await readClock(db)).getTime()));
      const outcomes: Outcome[] = [];
      for (const given of recorded) {
        const record = withBoundedTime(acceptedRecord(given, requestedAt), requestedAt);
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

/** Returns the record or, if it is malformed, a record of its refusal. */
function acceptedRecord(given: DecisionRecord, requestedAt: Date): DecisionRecord {
  const record = parseRecord(given) ?? malformedRecord(given, requestedAt.toISOString());
  if (record) return record;
  throw ApplicationFailure.nonRetryable('a decision to be recorded is malformed and has no id', 'MalformedRecord');
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
 * It is verified like any other decision. But if the ledger is known to be behind, its companies may be in an earlier
 * state, so the rules about companies are not checked. The approval of the first company requires only that some
 * company is syncing or moved.
 *
 * @returns the outcome; null if the ledger has the decision. A decision that fails verification is not recorded, so
 * that it can be verified later
 */
export async function restoreDecision(
  tx: Database,
  migrationId: string,
  record: DecisionRecord,
  isBehind: boolean,
): Promise<Outcome | null> {
  await lockDecisions(tx, migrationId);
  if (await readOutcome(tx, migrationId, record.decision.decisionId)) return null;
  const known = await readLedgerView(tx, migrationId, record);
  const ledger = isBehind ? { ...known, counts: null, ...(await readFirstCompanyStandIn(tx, migrationId)) } : known;
  const refusal = record.outcome.applied ? ledgerRefusal(record, ledger) : null;
  if (refusal !== null) return { ...record.outcome, applied: false, text: refusal };
  return write(tx, record, ledger, null);
}

/** Returns a stand-in for a first company that was moved, if any company of the migration is syncing or moved. */
async function readFirstCompanyStandIn(
  tx: Database,
  migrationId: string,
): Promise<Partial<Pick<LedgerView, 'firstCompany'>>> {
  return (await hasLinkedCompany(tx, migrationId)) ? { firstCompany: { reference: '', stage: 'verified' } } : {};
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

/**
 * Returns whether the signature of a refused decision is valid. If so, its signing time is recorded, so that nobody can
 * send the same signed decision again later.
 */
function isValidlySigned(record: DecisionRecord, { migrationId, rules, lastSigned }: LedgerView): boolean {
  const approvers = rules?.approvers;
  return !!approvers && signedRecordRefusal(migrationId, approvers, record, lastSigned) === null;
}

async function readLedgerView(tx: Database, migrationId: string, record: DecisionRecord): Promise<LedgerView> {
  const migration = await readMigration(tx, migrationId);
  if (!migration) throw new Error(`migration ${migrationId} is not in the ledger`);
  return {
    migrationId,
    route: migration.route,
    rules: migration.rules,
    suppliedBy: migration.suppliedBy,
    lastSigned: record.signed ? await readLastSigned(tx, migrationId) : {},
    recorded: await readRecordedDecisions(tx, migrationId),
    ending: migration.ending,
    hasBatchBegun: ![null, FIRST_COMPANY_RUN].includes(migration.currentRun),
    pausedItself: migration.pausedItself,
    counts: needsCounts(record.decision) ? await countCompanies(tx, migrationId) : NO_COUNTS,
    firstCompany: await readFirstCompany(tx, migrationId),
  };
}

/** Returns whether a precondition of the decision depends on the counts. Counting reads all rows of a migration. */
function needsCounts({ kind }: DecisionRecord['decision']): boolean {
  return ['step', 'time', 'skip', 'retry', 'relink', 'replace-credential'].includes(kind);
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
      // After a restore, the ledger may not know of the pause. Then it must not accept any failures either.
      if (!(await readMigration(tx, migrationId))?.paused) break;
      // A resume accepts the failures so far, because the person who resumes the migration has seen them.
      await acceptFailures(tx, migrationId);
      await clearFailedFirst(tx, migrationId);
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

/**
 * Starts to use the credentials that were staged for the decision. Their number comes from the ledger, not from the
 * message.
 */
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
  if (afterwards?.next === 'same-company' && afterwards.reference === undefined)
    await requestFirstAgain(tx, migrationId, 'all');
  else if (afterwards && 'reference' in afterwards) await requestFirstCompany(tx, migrationId, afterwards.reference);
}
