import { getExternalWorkflowHandle, sleep, TemporalFailure } from '@temporalio/workflow';
import type { WindowStart, WindowOccurrence } from '../domain/planning/windows';
import { shortActivities } from './activity-proxies';
import { windowOpenedSignal } from './messages';

/**
 * Tells a migration that its window is open. The migration's Schedule starts it at the beginning of every window, and a
 * person can trigger it at any time. It also has the Schedule list the following windows, and deletes the Schedule of a
 * migration that has ended.
 *
 * @returns whether the window is open, and a sentence for the person who triggered it
 */
export async function openWindow({ migrationId }: { readonly migrationId: string }): Promise<WindowStart> {
  if ((await shortActivities.keepSchedule({ migrationId })) === 'none') return notOpened(NO_WINDOWS);
  const occurrence = await currentOccurrence(migrationId);
  if ('text' in occurrence) return occurrence;
  try {
    await getExternalWorkflowHandle(migrationId).signal(windowOpenedSignal, occurrence);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    await shortActivities.deleteSchedule({ migrationId });
    return notOpened('the migration has ended, so its windows no longer open');
  }
  return { opened: true, text: `open until ${occurrence.closesAt}` };
}

const NO_WINDOWS = 'the migration has no more windows';

/** The clocks of Temporal and Postgres differ, so a Schedule may fire a little before the ledger's window opens. */
const EARLY_MS = 60_000;

/**
 * Returns the occurrence that is open now, after waiting for one that opens within `EARLY_MS`; otherwise the refusal.
 */
async function currentOccurrence(migrationId: string): Promise<WindowOccurrence | WindowStart> {
  for (;;) {
    const { opening, opensInMs } = await shortActivities.openWindow({ migrationId });
    if (opening === null) return notOpened(NO_WINDOWS);
    if (opensInMs === 0) return opening;
    if (opensInMs > EARLY_MS)
      return notOpened(`no company is started outside the windows: the next opens at ${opening.opensAt}`);
    await sleep(opensInMs, { summary: 'Until the window opens' });
  }
}

const notOpened = (text: string): WindowStart => ({ opened: false, text });
