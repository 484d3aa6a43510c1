/** Carries decisions from the migration's state to the ledger and the audit trail. */
import { condition } from '@temporalio/workflow';
import { nextAuditBatch } from '../../domain/decisions/audit-trail';
import { withLedgerOutcomes } from '../../domain/decisions/decide';
import { shortActivities } from '../activity-proxies';
import { isClosed } from './conditions';
import type { MigrationContext } from './context';

export interface AuditTrail {
  /**
   * Records decisions in the order in which they arrived, until the migration is closed. Message handlers add decisions
   * to `unrecorded`. The activity verifies each of them, applies it to the ledger and adds it to the audit
   * trail. A decision that the ledger refuses no longer counts in the state either.
   *
   * Decisions that arrive while the migration is about to continue as new are carried over and recorded by the next
   * run. Otherwise a flood of messages could delay continue-as-new indefinitely.
   */
  record(): Promise<void>;
  /**
   * Waits until a decision is in the ledger.
   *
   * Returns earlier if this run will not record the decision: because the next run will, or because the migration had
   * been closed when the decision arrived.
   */
  untilRecorded(decisionId: string): Promise<void>;
}

export function createAuditTrail(migration: MigrationContext): AuditTrail {
  const { migrationId, decisions } = migration.plan;
  let ended = false;
  const isWaiting = (decisionId: string): boolean =>
    migration.state().unrecorded.some(({ outcome }) => outcome.decisionId === decisionId);

  return {
    async record() {
      for (;;) {
        await condition(
          () =>
            (migration.state().unrecorded.length > 0 && !migration.isContinuingAsNew()) || isClosed(migration.state()),
        );
        const batch = nextAuditBatch(migration.state().unrecorded);
        if (batch.length === 0) break;
        await migration.deferContinueAsNew(async () => {
          const recorded = batch.map(({ undo: _undo, ...record }) => record);
          const { ledgerMark = 0 } = migration.state();
          const { outcomes, counts } = await shortActivities.recordDecisions({ migrationId, recorded, ledgerMark });
          migration.change((state) => ({ ...withLedgerOutcomes(state, outcomes, decisions), counts }));
        });
      }
      ended = true;
    },

    async untilRecorded(decisionId) {
      await condition(() => !isWaiting(decisionId) || migration.isContinuingAsNew() || ended);
    },
  };
}
