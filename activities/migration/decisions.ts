/**
 * Records decisions. A decision that was sent to a migration changes the ledger only here.
 *
 * For each decision, one transaction verifies it (`domain/decisions/verification.ts`), applies it to the ledger, adds
 * it to the audit trail, and stores the resulting release. Verification relies only on the ledger, because anyone who
 * may write to the Temporal namespace can pass any decision to this activity. A decision that fails verification is
 * recorded as refused, and its staged supply is deleted. It changes nothing else.
 */
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { NO_COUNTS, type Counts } from '../../domain/companies/counts';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { malformedRecord, parseRecord, withBoundedTime } from '../../domain/migration/decision-record';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { DEPEND_ON_COUNTS } from '../../domain/decisions/preconditions';
import { releaseOf, withDecision } from '../../domain/decisions/release';
import {
  isValidlySigned,
  ledgerRefusal,
  restoredRefusal,
  withoutInvalidSignature,
  type LedgerView,
} from '../../domain/decisions/verification';
import type { VaultKeyWrapper } from '../../security';
import {
  advanceRamp,
  countCompanies,
  countWithMark,
  flagLedger,
  hasLinkedCompany,
  lockDecisions,
  readLedgerFacts,
  recordDecisions,
  setReleased,
  type Database,
  type LedgerFacts,
  type MissingCredentials,
} from '../../store';
import type { ActivityDeps } from '../deps';
import { FIRST_COMPANY_RUN } from '../companies/first-company';
import { applyDecision } from './decision-effects';
import { findLostCredentials } from './lost-supplies';
import { stagedManifestRefusal } from './manifest';
import { discardSupply, exchangeRefusal, unopenableRefusal } from './staged-supply';
import { updateWindowOccurrence } from './windows';

export interface RecordingResult {
  /** The ledger's outcome of each decision, in the given order. It can differ from the outcome in the workflow. */
  readonly outcomes: readonly Outcome[];
  readonly counts: Counts;
}

export function decisionActivities(deps: ActivityDeps) {
  const { db, keys } = deps;
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
      const scheduledAt = new Date(activityInfo().scheduledTimestampMs);
      const outcomes: Outcome[] = [];
      for (const given of recorded) {
        const record = acceptedRecord(given, scheduledAt);
        const outcome = await db
          .transaction()
          .execute((tx) => recordDecision(tx, { migrationId, record, scheduledAt, ledgerMark, keys }));
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
function acceptedRecord(given: DecisionRecord, scheduledAt: Date): DecisionRecord {
  const record = parseRecord(given) ?? malformedRecord(given, scheduledAt.toISOString());
  if (record) return record;
  throw ApplicationFailure.nonRetryable('the workflow sent a malformed decision without an id', 'MalformedRecord');
}

/**
 * Verifies, applies and records one decision in a transaction. If the ledger is behind its workflow, also flags it, so
 * that the decision is recorded but no company can be claimed.
 *
 * @returns the outcome in the ledger. A decision that has already been recorded keeps its outcome
 */
async function recordDecision(
  tx: Database,
  {
    migrationId,
    record,
    scheduledAt,
    ledgerMark,
    keys,
  }: {
    readonly migrationId: string;
    readonly record: DecisionRecord;
    readonly scheduledAt: Date;
    readonly ledgerMark: number;
    readonly keys: VaultKeyWrapper;
  },
): Promise<Outcome> {
  await lockDecisions(tx, migrationId);
  const facts = await readLedgerFacts(tx, migrationId, record.decision.decisionId);
  const outcome =
    facts.earlierOutcome ?? (await verifyAndWrite(tx, keys, boundedBy(facts.now, scheduledAt, record), facts));
  // The facts contain the mark from before this decision raised it. The ledger is flagged last, because that locks the
  // migration's row. A claim locks companies first and that row second; the opposite order could cause a deadlock.
  if (facts.mark < ledgerMark) await flagLedger(tx, migrationId);
  return outcome;
}

/**
 * Limits the time that a record states. The latest possible time is `now` or `scheduledAt`, whichever is earlier,
 * because Temporal's clock can be ahead of the database's clock.
 */
function boundedBy(now: Date, scheduledAt: Date, record: DecisionRecord): DecisionRecord {
  return withBoundedTime(record, now < scheduledAt ? now : scheduledAt);
}

async function verifyAndWrite(
  tx: Database,
  keys: VaultKeyWrapper,
  given: DecisionRecord,
  facts: LedgerFacts,
): Promise<Outcome> {
  const ledger = await viewOf(tx, facts, given);
  const record = withoutInvalidSignature(given, ledger);
  const { decision } = record;
  const { migrationId } = ledger;
  const refusal = record.outcome.applied
    ? ((await refusalOf(tx, record, ledger, ledgerRefusal(record, ledger))) ??
      (await exchangeRefusal(tx, migrationId, decision)) ??
      (await unopenableRefusal(tx, keys, migrationId, decision)))
    : null;
  return write(tx, record, ledger, refusal);
}

/**
 * Verifies, applies and records one decision that the ledger has lost, in a transaction.
 *
 * The decision is verified like a new decision, with the exception that `restoredRefusal` describes, and without
 * opening its credentials. If the ledger is known to be behind, its companies might be in an earlier state, so the
 * rules about companies are not checked. The approval of the first company then requires only that some company is
 * syncing or moved. If the credentials or the client secret that were staged for the decision are lost or do not match
 * its digest, only the decision is restored, and they must be supplied again.
 *
 * @returns the outcome, and whether credentials of the decision were lost; null if the ledger already has the decision.
 *   A decision that fails verification is not recorded, so that it can be verified later
 */
export async function restoreDecision(
  tx: Database,
  migrationId: string,
  given: DecisionRecord,
  isBehind: boolean,
): Promise<{ readonly outcome: Outcome; readonly lostCredentials: MissingCredentials } | null> {
  await lockDecisions(tx, migrationId);
  const facts = await readLedgerFacts(tx, migrationId, given.decision.decisionId);
  if (facts.earlierOutcome) return null;
  const known = await viewOf(tx, facts, given);
  const record = withoutInvalidSignature(given, known);
  const ledger = isBehind ? { ...known, counts: null, ...(await readFirstCompanyStandIn(tx, migrationId)) } : known;
  const refusal = record.outcome.applied ? await refusalOf(tx, record, ledger, restoredRefusal(record, ledger)) : null;
  if (refusal !== null)
    return { outcome: { ...record.outcome, applied: false, text: refusal }, lostCredentials: 'none' };
  if (!record.outcome.applied) return { outcome: await write(tx, record, ledger, null), lostCredentials: 'none' };
  const areUsable = (await exchangeRefusal(tx, migrationId, record.decision)) === null;
  const lostCredentials = await findLostCredentials(tx, migrationId, record.decision, areUsable);
  if (!areUsable) await discardSupply(tx, migrationId, record.decision.decisionId);
  return { outcome: await write(tx, record, ledger, null), lostCredentials };
}

/** Returns a substitute for a verified first company, if any company of the migration is syncing or moved. */
async function readFirstCompanyStandIn(
  tx: Database,
  migrationId: string,
): Promise<Partial<Pick<LedgerView, 'firstCompany'>>> {
  return (await hasLinkedCompany(tx, migrationId)) ? { firstCompany: { reference: '', stage: 'verified' } } : {};
}

/**
 * Returns why the rules or the staged manifest refuse a decision that the workflow has applied; null if neither does.
 *
 * @param refusal why the rules refuse the decision; null if they accept it
 */
async function refusalOf(
  tx: Database,
  { decision }: DecisionRecord,
  ledger: View,
  refusal: string | null,
): Promise<string | null> {
  if (refusal !== null || decision.kind !== 'manifest-supplied') return refusal;
  return stagedManifestRefusal(tx, ledger.migrationId, ledger.platformKey, decision);
}

/** Applies a decision unless it is refused, and records it. */
async function write(tx: Database, record: DecisionRecord, ledger: View, refusal: string | null): Promise<Outcome> {
  const { decision } = record;
  const { migrationId } = ledger;
  const applied = record.outcome.applied && refusal === null && decision.kind !== 'unreadable' ? decision : null;
  const text = applied ? await applyDecision(tx, ledger, applied, record.outcome) : (refusal ?? record.outcome.text);
  const outcome: Outcome = { ...record.outcome, applied: applied !== null, text };
  const verified = applied !== null || isValidlySigned(record, ledger);
  await recordDecisions(tx, migrationId, [{ ...record, outcome, verified }]);
  if (applied) await updateRelease(tx, ledger, applied, outcome);
  else await discardSupply(tx, migrationId, decision.decisionId);
  return outcome;
}

const CHANGES_RELEASE: readonly Decision['kind'][] = ['step', 'time', 'first-company', 'manifest-supplied'];

/** Stores the release that results from a decision, if it has changed. */
async function updateRelease(
  tx: Database,
  { migrationId, route, recorded, released: before }: View,
  decision: Decision,
  { at }: Outcome,
): Promise<void> {
  if (!CHANGES_RELEASE.includes(decision.kind)) return;
  const released = releaseOf(route, withDecision(recorded, decision, at));
  if (released !== before) await setReleased(tx, migrationId, released);
}

type View = LedgerView & LedgerFacts;

async function viewOf(tx: Database, facts: LedgerFacts, { decision: { kind } }: DecisionRecord): Promise<View> {
  // Counting reads all rows of a migration, so it is done only for decisions that depend on the counts.
  const counts = DEPEND_ON_COUNTS.some((each) => each === kind)
    ? await countCompanies(tx, facts.migrationId)
    : NO_COUNTS;
  return {
    ...facts,
    hasBatchBegun: ![null, FIRST_COMPANY_RUN].includes(facts.currentRun),
    counts,
  };
}
