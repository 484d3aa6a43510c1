/** Step 6. */
import { executeChild, ParentClosePolicy } from '@temporalio/workflow';
import { movableCompanies } from '../../domain/company-state';
import type { MigrationState } from '../../domain/migration-state';
import { batchRunIdOf } from '../../domain/plan';
import { isSettled } from '../../domain/step-course';
import { records } from '../activity-proxies';
import { batchRun } from '../batch-run';
import type { Desk } from '../desk';
import { estimateAgain, halt, mayMove, windowOpen } from '../moving';
import { whileRelinking } from '../relinking';

const STEP = 'complete-migration';

/** Batch runs move the rest; both sides sign off when nothing is open any more. */
export async function remainingCompaniesMigrated(desk: Desk): Promise<void> {
  const ready = (state: MigrationState): boolean =>
    isSettled(state, STEP) || (mayMove(state) && movableCompanies(state.counts) > 0);
  if (!(await whileRelinking(desk, () => desk.until(ready)))) return;
  if (isSettled(desk.state(), STEP)) desk.end(STEP);
  else if (onlySyncing(desk.state()) || (await windowOpen(desk))) await oneBatchRun(desk);
}

/** What syncs already is verified whenever it is ready: nothing is started by that. */
function onlySyncing({ counts }: MigrationState): boolean {
  return movableCompanies(counts) === counts.syncing;
}

async function oneBatchRun(desk: Desk): Promise<void> {
  const { migrationId } = desk.plan;
  const runNumber = desk.state().batchRuns + 1;
  desk.change((state) => ({ ...state, batchRuns: runNumber }));
  const { stop } = await executeChild(batchRun, {
    args: [{ migrationId, runNumber }],
    workflowId: batchRunIdOf(migrationId),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: `Batch run ${runNumber} of ${migrationId}`,
  });
  const counts = await records.count({ migrationId });
  if (stop) await halt(desk, stop, { counts });
  else desk.change((state) => ({ ...state, counts }));
  await estimateAgain(desk, true);
}
