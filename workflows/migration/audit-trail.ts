/** Carries decisions from the migration's state to the ledger and the audit trail. */
import { nextAuditBatch } from '../../domain/decisions/audit-trail';
import { withLedgerOutcomes } from '../../domain/decisions/decide';
import { decisionsSummary } from '../../presentation/temporal-ui/event-summaries';
import { shortActivities } from '../activity-proxies';
import { isClosed } from './conditions';
import type { MigrationContext } from './context';

export interface AuditTrail {
  /**
   * Waits until a decision is in the ledger.
   *
   * Returns earlier if this workflow run will not record the decision: because the migration continues as new and the
   * next run records it, or because the migration was closed before the decision arrived.
   */
  untilRecorded(decisionId: string): Promise<void>;
  /** Waits until the migration is closed and its decisions are recorded. Later decisions are not recorded. */
  untilClosed(): Promise<void>;
}

/**
 * Records decisions in the order in which they arrived, until the migration is closed. Message handlers add decisions
 * to `unrecorded`. The activity verifies each of them, applies it to the ledger and adds it to the audit trail. A
 * decision that the ledger refuses is undone in the state.
 *
 * Decisions that arrive while the migration is about to continue as new are carried over and recorded by the next run.
 * Otherwise a flood of messages could delay continue-as-new indefinitely.
 */
export function createAuditTrail(migration: MigrationContext): AuditTrail {
  const { migrationId, decisions } = migration.plan;
  let closed = false;
  const isWaiting = (decisionId: string): boolean =>
    migration.state().unrecorded.some(({ outcome }) => outcome.decisionId === decisionId);

  async function recordNext(): Promise<void> {
    const batch = nextAuditBatch(migration.state().unrecorded);
    const recorded = batch.map(({ undo: _undo, ...record }) => record);
    const { ledgerMark = 0 } = migration.state();
    const { outcomes, counts } = await shortActivities.recordDecisions.executeWithOptions(
      { summary: decisionsSummary(recorded) },
      [{ migrationId, recorded, ledgerMark }],
    );
    migration.change((state) => ({ ...withLedgerOutcomes(state, outcomes, decisions), counts }));
  }

  migration.whenever(
    () => !closed && migration.state().unrecorded.length > 0 && !migration.isContinuingAsNew(),
    () => migration.deferContinueAsNew(recordNext),
  );
  migration.when(
    () => isClosed(migration.state()),
    () => {
      closed = true;
    },
  );

  return {
    untilRecorded: (decisionId) =>
      migration.until(() => !isWaiting(decisionId) || migration.isContinuingAsNew() || closed),
    untilClosed: () => migration.until(() => closed),
  };
}
