/** Records in the ledger why slices stopped moving companies, and when calls got through again. */
import { activityInfo } from '@temporalio/activity';
import type { OutageSource } from '../../domain/companies/failures';
import type { Outage } from '../../domain/migration/outage';
import { migrationOfWorkflow } from '../../domain/migration/temporal-names';
import type { Database } from '../../store';
import { beginOutage, endOutage, reportStop } from '../../store';
import type { SliceEnd, SliceRun } from './slice';

/** When calls of a slice got through, and since when they did not. */
export type SliceTimes = Pick<SliceRun, 'lastThroughAt' | 'series'>;

/**
 * Records what ended a slice: a reason to pause the migration, or an outage. If it was neither and a company got
 * through after an outage had been reported, that outage is over. Other slices report an outage while this one is still
 * running.
 *
 * @param source ends only an outage of this source; default: of either
 */
export async function recordSliceEnd(
  db: Database,
  migrationId: string,
  { stop, stopNumbers, outage }: SliceEnd,
  { lastThroughAt, series }: SliceTimes,
  source?: OutageSource,
): Promise<void> {
  if (stop !== null) await reportStop(db, migrationId, { stop, numbers: stopNumbers });
  // While the ledger is being reconciled, calls get through.
  if (outage?.source) {
    const { why, source: outageSource } = outage;
    await beginOutage(db, migrationId, { why, source: outageSource, sinceMs: series ? Date.now() - series.since : 0 });
  }
  if (outage === null && lastThroughAt !== null)
    await endOutage(db, migrationId, { reportedBeforeMs: Date.now() - lastThroughAt, ...(source && { source }) });
}

/**
 * Records what ended a verification, like {@link recordSliceEnd}. A verification only reads the service, so it cannot
 * end an outage of the platform.
 */
export async function recordVerificationEnd(
  db: Database,
  migrationId: string,
  end: SliceEnd,
  times: SliceTimes,
): Promise<void> {
  await recordSliceEnd(db, migrationId, end, times, 'service');
}

/**
 * Records the result of a probe by a batch run: the outage is over, or continues. A pause by people has ended a
 * recorded outage, so it begins again if they resume the migration before the service responds.
 */
export async function recordProbe(db: Database, trouble: Pick<Outage, 'why' | 'source'> | null): Promise<void> {
  const { workflowExecution } = activityInfo();
  const migrationId = workflowExecution && migrationOfWorkflow(workflowExecution.workflowId);
  if (migrationId === undefined) return;
  if (trouble === null) await endOutage(db, migrationId, { source: 'service' });
  else if (trouble.source) await beginOutage(db, migrationId, { why: trouble.why, source: trouble.source });
}
