/** End customers who are to connect again: the migration looks at the service whether they have. */
import { longActivities } from '../activity-proxies';
import type { MigrationContext } from './context';
import { backoff } from '../backoff';
import { refreshCounts, isRecorded } from './ledger';
import { conditionOrTimer } from './waits';

/** Between two looks: minutes at first, hours later. */
const WAIT = { shortestMs: 30_000, longestMs: 3_600_000 };
const SUMMARY = 'Until the next look whether end customers have connected again';

/** Does something, and looks meanwhile whether end customers have connected again. */
export async function whileRelinking<T>(desk: MigrationContext, work: () => Promise<T>): Promise<T> {
  let over = false;
  const looking = lookForRelinked(desk, () => over);
  // Whatever ends it ends the work as well, and is seen there.
  looking.catch(() => undefined);
  try {
    return await work();
  } finally {
    over = true;
    await looking;
  }
}

async function lookForRelinked(desk: MigrationContext, isOver: () => boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const wait = backoff(WAIT);
  let expected = 0;
  for (;;) {
    const asked = (): boolean => desk.state().relinking > expected && isRecorded(desk.state());
    const timer = expected === 0 ? undefined : { ms: wait(0, false), summary: SUMMARY };
    await conditionOrTimer(() => isOver() || asked(), timer);
    if (isOver()) return;
    const { relinking } = desk.state();
    const { waiting } = await longActivities.lookForRelinked({ migrationId });
    // What was asked for during the look is looked at next.
    await refreshCounts(desk, (state) => ({ relinking: waiting + state.relinking - relinking }));
    expected = waiting;
  }
}
