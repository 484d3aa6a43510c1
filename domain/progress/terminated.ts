/** The progress of a migration whose workflow has ended in Temporal before the migration did. */
import type { EndedInTemporal } from '../migration/terminated';
import type { Progress } from './progress';

/**
 * Returns the progress of a migration that support has to close, because its workflow has ended in Temporal. A worker
 * still answers queries about such a workflow from its history, so the answer looks like the progress of a running
 * migration. Leaves out plans, pauses and forecasts, because no company moves any more.
 */
export function terminatedProgress(progress: Progress, endedInTemporal: EndedInTemporal): Progress {
  return {
    ...progress,
    state: 'terminated',
    endedInTemporal,
    waitingFor: { roles: ['support'], what: closeTask(progress) },
    waitingSince: endedInTemporal.at,
    ...{ checking: false, windows: [], window: null, proposal: null, requestedFirst: null },
    ...{ estimate: null, throughput: null, outage: null, pause: null, pauses: [], reopened: null },
  };
}

/** Names the migration, because the command would otherwise close every migration that does not run in Temporal. */
const closeTask = ({ migrationId }: Progress): string =>
  `close the migration, which accepts no more decisions, with: ferry sweep --close ${migrationId}`;
