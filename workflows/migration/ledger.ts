/** What steps 5 and 6 share: when companies may be moved, what is waited for, and how a migration pauses itself. */
import type { StopReason } from '../../domain/companies/failures';
import { stopReasonText } from '../../domain/companies/failures';
import type { MigrationState } from '../../domain/migration/migration-state';
import { shortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';
import { now } from './context';

/** Whether everything that was decided has reached the ledger. */
export function isRecorded({ unrecorded }: MigrationState): boolean {
  return unrecorded.length === 0;
}

/** A run that starts before a resume is written in the ledger would find it paused. */
export function mayMove(state: MigrationState): boolean {
  return state.pause === null && isRecorded(state);
}

/**
 * What is news from now on: a decision that has reached the ledger, a window that was opened, a hint to look again. Asked
 * for before the ledger is read, so that nothing is missed that comes meanwhile.
 */
export function changedSince(desk: MigrationContext): (state: MigrationState) => boolean {
  const { outcomes, opened, looks, unrecorded } = desk.state();
  return (state) =>
    isRecorded(state) &&
    (unrecorded.length > 0 || state.outcomes !== outcomes || state.opened !== opened || state.looks !== looks);
}

/**
 * Counts the companies. What reaches the ledger while they are counted makes the answer an old one: then they are counted
 * again, for a company that was decided about would be missed.
 *
 * @param change what is changed together with the counts
 */
export async function refreshCounts(
  desk: MigrationContext,
  change: (state: MigrationState) => Partial<MigrationState> = () => ({}),
) {
  const { migrationId } = desk.plan;
  for (;;) {
    const isNews = changedSince(desk);
    const counts = await shortActivities.count({ migrationId });
    if (isNews(desk.state())) continue;
    return desk.change((state) => ({ ...state, counts, ...change(state) }));
  }
}

/** Waits for the next window; false: something was decided meanwhile that may change what comes next. */
export async function awaitWindow(desk: MigrationContext): Promise<boolean> {
  const { migrationId } = desk.plan;
  const isNews = changedSince(desk);
  const { opening, opensInMs } = await shortActivities.openWindow({ migrationId });
  desk.change((state) => ({ ...state, opening }));
  if (opensInMs <= 0) return true;
  await desk.whileNothing(isNews, { ms: opensInMs, summary: 'Until the next window opens' });
  return false;
}

/** What is left is estimated from what was measured on the companies that have moved. */
export async function refreshEstimate(desk: MigrationContext, runFinished: boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const estimate = await shortActivities.estimateRest({ migrationId, runFinished });
  desk.change((state) => ({ ...state, estimate }));
}

/** The migration pauses itself: something is wrong that is not the companies' fault. Support resumes it. */
export async function pauseMigration(
  desk: MigrationContext,
  stop: StopReason,
  also: Partial<MigrationState> = {},
): Promise<void> {
  await shortActivities.setPaused({ migrationId: desk.plan.migrationId, paused: true });
  desk.change((state) => ({ ...state, ...also, pause: { reason: stopReasonText(stop), by: null, stop, at: now() } }));
}
