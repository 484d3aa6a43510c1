/** Records in the ledger why slices stopped moving companies, and when calls got through again. */
import { activityInfo } from '@temporalio/activity';
import type { OutageSource, StopReason } from '../../domain/companies/failures';
import type { Outage } from '../../domain/migration/outage';
import { migrationOfWorkflow } from '../../domain/migration/temporal-names';
import { beginOutage, endOutage, readOpenPause, reportStop, type Database } from '../../store';
import type { SliceOutage } from './circuit-breaker';

/** Why a slice ended early. */
export interface SliceEnd {
  readonly stop: StopReason | null;
  /**
   * The failure rate that stopped the slice, or the companies that stopped it, as text for people. Null if neither did.
   */
  readonly stopNumbers: string | null;
  /** The outage that the slice reports; null if there is none. */
  readonly outage: SliceOutage | null;
}

interface RecordedEnd extends SliceEnd {
  /** When a company last got through, epoch milliseconds; null if none did. */
  readonly lastThroughAt: number | null;
}

/**
 * Records the outage that a slice reports. Records nothing while the ledger is being reconciled, because calls get
 * through then.
 */
export async function recordOutage(
  db: Database,
  migrationId: string,
  { why, source, since = Date.now() }: SliceOutage,
): Promise<void> {
  if (source) await beginOutage(db, migrationId, { why, source, sinceMs: Date.now() - since });
}

/**
 * Adds the stop of a pause that began earlier. A slice pauses the migration before it reports why to the workflow. If
 * its worker dies in between, the next attempt claims nothing, so it finds no reason of its own. Without the reason,
 * the workflow would start one run after the other, and nobody could resume the migration.
 *
 * @param finishing true if the workflow knows about the pause, and the slice only finishes companies in progress
 */
export async function withEarlierStop<End extends SliceEnd>(
  db: Database,
  migrationId: string,
  end: End,
  finishing = false,
): Promise<End> {
  if (finishing || end.stop !== null) return end;
  const pause = await readOpenPause(db, migrationId);
  return pause === null ? end : { ...end, stop: pause.stop, stopNumbers: pause.numbers };
}

/**
 * Records what ended a slice: a reason to pause the migration, or an outage. If the slice reports no outage, an outage
 * that was reported before a company last got through is over. An outage that another slice has reported since then is
 * not.
 *
 * @param source ends only an outage of this source; default: of either
 */
export async function recordSliceEnd(
  db: Database,
  migrationId: string,
  { stop, stopNumbers, outage, lastThroughAt }: RecordedEnd,
  source?: OutageSource,
): Promise<void> {
  if (stop !== null) await reportStop(db, migrationId, { stop, numbers: stopNumbers });
  if (outage !== null) await recordOutage(db, migrationId, outage);
  if (outage === null && lastThroughAt !== null)
    await endOutage(db, migrationId, { reportedBeforeMs: Date.now() - lastThroughAt, ...(source && { source }) });
}

/**
 * Records what ended a verification, like {@link recordSliceEnd}. A verification cannot end an outage of the platform,
 * because the service can answer its calls without the platform.
 */
export async function recordVerificationEnd(db: Database, migrationId: string, end: RecordedEnd): Promise<void> {
  await recordSliceEnd(db, migrationId, end, 'service');
}

/**
 * Records the result of a probe by a batch run: an outage of the service is over, or continues. A pause ends the
 * recorded outage. If the migration is resumed before the service responds, the next probe records the outage again.
 */
export async function recordProbe(db: Database, trouble: Pick<Outage, 'why' | 'source'> | null): Promise<void> {
  const { workflowExecution } = activityInfo();
  const migrationId = workflowExecution && migrationOfWorkflow(workflowExecution.workflowId);
  if (migrationId === undefined) return;
  if (trouble === null) await endOutage(db, migrationId, { source: 'service' });
  else if (trouble.source) await beginOutage(db, migrationId, { why: trouble.why, source: trouble.source });
}
