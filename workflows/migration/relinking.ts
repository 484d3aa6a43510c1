/** End customers who are to connect again: the migration looks at the service whether they have. */
import { checks } from '../activity-proxies';
import type { Desk } from './context';
import { growingWait } from '../backoff';
import { countAgain, inLedger } from './ledger';
import { conditionOrTimer } from './waits';

/** Between two looks: minutes at first, hours later. */
const WAIT = { shortestMs: 30_000, longestMs: 3_600_000 };
const SUMMARY = 'Until the next look whether end customers have connected again';

/** Does something, and looks meanwhile whether end customers have connected again. */
export async function whileRelinking<T>(desk: Desk, work: () => Promise<T>): Promise<T> {
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

async function lookForRelinked(desk: Desk, isOver: () => boolean): Promise<void> {
  const { migrationId } = desk.plan;
  const wait = growingWait(WAIT);
  let expected = 0;
  for (;;) {
    const asked = (): boolean => desk.state().relinking > expected && inLedger(desk.state());
    const timer = expected === 0 ? undefined : { ms: wait(0, false), summary: SUMMARY };
    await conditionOrTimer(() => isOver() || asked(), timer);
    if (isOver()) return;
    const { relinking } = desk.state();
    const { waiting } = await checks.lookForRelinked({ migrationId });
    // What was asked for during the look is looked at next.
    await countAgain(desk, (state) => ({ relinking: waiting + state.relinking - relinking }));
    expected = waiting;
  }
}
