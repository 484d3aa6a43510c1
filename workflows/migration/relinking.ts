/** Polls the service for companies that must reconnect, until their end customers have done so. */
import { longActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { runAlongside } from '../concurrency';
import { isRecorded } from './conditions';
import type { MigrationContext } from './context';
import { refreshCounts } from './ledger-state';

/** Polls are half a minute apart at first and an hour apart later, because an end customer can take weeks. */
const POLL_DELAY = { shortestMs: 30_000, longestMs: 3_600_000 };
const SUMMARY = 'Until the next check for reconnected companies';

/** Does the work, and polls for companies that have reconnected until the work is done. */
export function whileRelinking<T>(migration: MigrationContext, work: () => Promise<T>): Promise<T> {
  return runAlongside(work, (isOver) => pollRelinking(migration, isOver));
}

async function pollRelinking(migration: MigrationContext, isOver: () => boolean): Promise<void> {
  const { migrationId } = migration.plan;
  const nextDelayMs = backoff(POLL_DELAY);
  /** True if a decision has added companies. Their end customers are likely to reconnect soon. */
  let added = false;
  /** The number of companies that had not reconnected at the last poll. */
  let stillWaiting = 0;
  for (;;) {
    // A relink decision increases the count: poll at once.
    const hasMore = (): boolean => migration.state().relinking > stillWaiting && isRecorded(migration.state());
    const timer = stillWaiting === 0 ? undefined : { ms: nextDelayMs(0, added), summary: SUMMARY };
    await migration.until(() => isOver() || hasMore(), timer);
    if (isOver()) return;
    added = hasMore();
    const { relinking } = migration.state();
    const { waiting, reconnected } = await longActivities.checkReconnected({ migrationId });
    await refreshCounts(migration, (state) => ({
      // A relink decision may have added companies during this poll. The next poll follows at once and checks them.
      relinking: waiting + state.relinking - relinking,
      // Wakes a batch run, which verifies the companies that have reconnected.
      wakes: state.wakes + reconnected,
    }));
    stillWaiting = waiting;
  }
}
