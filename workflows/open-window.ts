import { getExternalWorkflowHandle, sleep, TemporalFailure } from '@temporalio/workflow';
import type { WindowStart, WindowOccurrence } from '../domain/planning/windows';
import { shortActivities } from './activity-proxies';
import { windowOpenedSignal } from './messages';

/**
 * What the Schedule of a migration starts when a window opens, or whoever triggers it. It tells the migration, and has
 * the Schedule list the openings that follow; a Schedule whose migration has ended is deleted.
 */
export async function openWindow({ migrationId }: { readonly migrationId: string }): Promise<WindowStart> {
  if ((await shortActivities.keepSchedule({ migrationId })) === 'none') return no('there are no windows any more');
  const opening = await openNow(migrationId);
  if ('text' in opening) return opening;
  try {
    await getExternalWorkflowHandle(migrationId).signal(windowOpenedSignal, opening);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    await shortActivities.deleteSchedule({ migrationId });
    return no('the migration has ended: nothing opens its windows any more');
  }
  return { opened: true, text: `open until ${opening.closesAt}` };
}

/** Clocks differ: a window that opens within this time is waited for. */
const EARLY_MS = 60_000;

/** The opening that is now, or why there is none: a trigger may come at any time, and changes nothing of the windows. */
async function openNow(migrationId: string): Promise<WindowOccurrence | WindowStart> {
  for (;;) {
    const { opening, opensInMs } = await shortActivities.openWindow({ migrationId });
    if (opening === null) return no('there are no windows any more');
    if (opensInMs === 0) return opening;
    if (opensInMs > EARLY_MS)
      return no(`no company is started outside the windows: the next opens at ${opening.opensAt}`);
    await sleep(opensInMs, { summary: 'Until the window opens' });
  }
}

const no = (text: string): WindowStart => ({ opened: false, text });
