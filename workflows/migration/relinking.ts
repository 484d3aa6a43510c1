/** Polls the service for companies that must reconnect, until their owners have done so. */
import { longActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { runAlongside } from '../concurrency';
import { isRecorded } from './conditions';
import type { MigrationContext } from './context';
import { refreshCounts } from './ledger-state';
import { conditionOrTimer } from './waits';

/** The first polls are half a minute apart, later ones an hour: an owner may take weeks. */
const POLL_DELAY = { shortestMs: 30_000, longestMs: 3_600_000 };
const SUMMARY = 'Until the next check for reconnected companies';

/** Does work, and meanwhile polls for companies that have reconnected. */
export async function whileRelinking<T>(migration: MigrationContext, work: () => Promise<T>): Promise<T> {
  return runAlongside(work, (isOver) => pollRelinking(migration, isOver));
}

async function pollRelinking(migration: MigrationContext, isOver: () => boolean): Promise<void> {
  const { migrationId } = migration.plan;
  const nextDelayMs = backoff(POLL_DELAY);
  /** Companies that were still waiting at the last poll. */
  let known = 0;
  for (;;) {
    // A relink decision adds to the count: poll at once.
    const hasMore = (): boolean => migration.state().relinking > known && isRecorded(migration.state());
    const timer = known === 0 ? undefined : { ms: nextDelayMs(0, false), summary: SUMMARY };
    await conditionOrTimer(() => isOver() || hasMore(), timer);
    if (isOver()) return;
    const { relinking } = migration.state();
    const { waiting } = await longActivities.lookForRelinked({ migrationId });
    // Keeps what decisions have added during the poll: the next poll covers it.
    await refreshCounts(migration, (state) => ({ relinking: waiting + state.relinking - relinking }));
    known = waiting;
  }
}
