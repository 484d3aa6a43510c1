import { getExternalWorkflowHandle, sleep, TemporalFailure } from '@temporalio/workflow';
import { neverCloses, NO_WINDOWS, type WindowOpening, type WindowOccurrence } from '../domain/planning/windows';
import { momentText } from '../domain/text/sentences';
import { shortActivities } from './activity-proxies';
import { assertIsScheduledFor } from './identity';
import { windowOpenedSignal } from './messages';

/**
 * Tells a migration that its window is open. The migration's Schedule starts this workflow at the beginning of every
 * window, and a person can trigger it at any time. The workflow also updates the windows that the Schedule lists, and
 * deletes the Schedule if the migration has ended.
 *
 * @returns whether the window is open, and a sentence for the person who triggered it
 */
export async function openWindow({ migrationId }: { readonly migrationId: string }): Promise<WindowOpening> {
  assertIsScheduledFor(migrationId);
  if ((await shortActivities.updateSchedule({ migrationId })) === 'none') return notOpened(NO_WINDOWS);
  const occurrence = await currentOccurrence(migrationId);
  if ('text' in occurrence) return occurrence;
  try {
    await getExternalWorkflowHandle(migrationId).signal(windowOpenedSignal, occurrence);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    await shortActivities.deleteSchedule({ migrationId });
    const see = `to see what to do, run: ferry show ${migrationId}`;
    return notOpened(`Temporal is no longer running this migration, so no window opens; ${see}`);
  }
  return { opened: true, text: openText(occurrence) };
}

function openText(occurrence: WindowOccurrence): string {
  return neverCloses(occurrence)
    ? 'the windows cover the whole week, so moves can begin at any time'
    : `a window is open until ${momentText(occurrence.closesAt)}`;
}

/** How early a Schedule can fire: the clocks of Temporal and Postgres differ, and the ledger uses Postgres's clock. */
const MAX_EARLY_MS = 60_000;

/**
 * Returns the open occurrence. If the next occurrence opens within `MAX_EARLY_MS`, waits for its opening first. If it
 * opens later, or there is none, returns the reason why no window is open.
 */
async function currentOccurrence(migrationId: string): Promise<WindowOccurrence | WindowOpening> {
  for (;;) {
    const { window, opensInMs } = await shortActivities.findWindow({ migrationId });
    if (window === null) return notOpened(NO_WINDOWS);
    if (opensInMs === 0) return window;
    if (opensInMs > MAX_EARLY_MS)
      return notOpened(`no move begins outside the windows; the next window opens at ${momentText(window.opensAt)}`);
    await sleep(opensInMs, { summary: 'Until the window opens' });
  }
}

const notOpened = (text: string): WindowOpening => ({ opened: false, text });
