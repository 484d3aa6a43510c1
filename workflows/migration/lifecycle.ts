/**
 * The lifecycle of every migration, on both routes. The steps run one at a time until the last step or a decision
 * closes the migration. Alongside the steps, decisions are recorded, companies are counted, reminders are sent and
 * corrected details are checked.
 */
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
} from '@temporalio/workflow';
import type { MigrationState } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import { assertIsMigration } from '../identity';
import { createAuditTrail } from './audit-trail';
import { closeMigration, type MigrationResult } from './closing';
import { isRecorded } from './conditions';
import { createMigrationContext, type MigrationContext } from './context';
import { createCountRefresh } from './ledger-state';
import { receiveDecision, setMessageHandlers } from './message-handlers';
import { sendReminders } from './reminders';
import { checkChangedDetails } from './steps/supply-details';

/** The plan and, after continue-as-new, the state that was carried over. */
export type MigrationInput = MigrationPlan & { readonly carried?: MigrationState };

/** Works on the current step, and returns when the step may have changed. */
type StepRunner = (migration: MigrationContext) => Promise<void>;

export function runMigration({ carried, ...plan }: MigrationInput, runStep: StepRunner): Promise<MigrationResult> {
  assertIsMigration(plan.migrationId);
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const migration = createMigrationContext(plan, carried);
    const auditTrail = createAuditTrail(migration);
    // The handlers are set before the first await, because messages can arrive from then on.
    setMessageHandlers(migration, auditTrail, createCountRefresh(migration));
    // A cancellation with Temporal's own tools is treated as a decision, so that the migration is closed properly.
    migration.when(
      () => root.consideredCancelled,
      () => void receiveDecision(migration, 'cancel', CANCELLED_IN_TEMPORAL),
    );
    checkChangedDetails(migration);
    sendReminders(migration);
    try {
      while (migration.state().closed === null) {
        migration.openStep(migration.state().step);
        await interruptWhenClosed(migration, () => runStep(migration));
        // The ledger can still refuse the decision that closed the migration. The migration then continues.
        if (migration.state().closed !== null) await migration.until(() => isRecorded(migration.state()));
        if (migration.shouldContinueAsNew()) await continueWithEmptyHistory(migration);
      }
      await auditTrail.untilClosed();
      const result = await closeMigration(migration);
      // Makes Temporal show the migration as cancelled. If decisions must be signed, the migration has refused this
      // unsigned cancellation and may have ended in another way.
      if (root.consideredCancelled && migration.state().closed === 'cancelled')
        throw new CancelledFailure(CANCELLED_IN_TEMPORAL.reason);
      return result;
    } finally {
      migration.show();
    }
  });
}

const CANCELLED_IN_TEMPORAL = { role: 'support', by: 'Temporal', reason: "cancelled with Temporal's own tools" };

/** Does the work, but cancels it if a decision closes the migration. */
function interruptWhenClosed(migration: MigrationContext, work: () => Promise<void>): Promise<void> {
  const scope = new CancellationScope();
  const isClosed = (): boolean => migration.state().closed !== null;
  const removeInterrupt = migration.when(isClosed, () => scope.cancel());
  return scope.run(work).then(removeInterrupt, (error: unknown) => {
    removeInterrupt();
    // Checks the scope and not the state, because the ledger may have refused the closing decision by now.
    if (!scope.consideredCancelled || !isCancellation(error)) throw error;
  });
}

/** Continues as new. Called only between batch runs, because continuing as new would cancel a batch run. */
async function continueWithEmptyHistory(migration: MigrationContext): Promise<void> {
  await condition(allHandlersFinished);
  // While a handler waited, the migration may have been closed, or may have begun to record decisions.
  if (migration.state().closed !== null || !migration.shouldContinueAsNew()) return;
  migration.showContinued();
  await continueAsNew<(input: MigrationInput) => Promise<MigrationResult>>({
    ...migration.plan,
    carried: migration.state(),
  });
}
