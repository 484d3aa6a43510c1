/** The activities as workflows call them: one proxy for each way of failing, with the reason beside it. */
import type { ActivityInterfaceFor, ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** What people read in Temporal's own tools; where more is to be said, whoever asks for the activity says it. */
const SUMMARIES: Readonly<Record<keyof Activities, string>> = {
  openMigration: 'Open the migration',
  preflight: 'Check the supplied details',
  estimatePlan: 'Estimate the duration',
  estimateRest: 'Estimate what is left',
  count: 'Count the companies',
  recordDecisions: 'Record what was decided',
  setPaused: 'Pause',
  openWindow: 'Look for the present or the next window',
  keepSchedule: 'List the next windows in the schedule',
  deleteSchedule: 'Delete the schedule of the windows',
  chooseFirstCompany: 'Choose the first company',
  advanceFirstCompany: 'Move and check the first company',
  beginRun: 'Begin the batch run',
  askService: 'Ask whether the service answers',
  importSlice: 'Move companies',
  verifyDue: 'Check companies whose sync may be over',
  lookForRelinked: 'Look whether end customers have connected again',
  settleInterrupted: 'Find out what became of interrupted companies',
  closeMigration: 'Close the migration and destroy its credentials',
  removeUnused: 'Remove what was created for companies that stay',
  lookForLeftBehind: 'Look for migrations that were terminated',
  postNotice: 'Tell somebody who is waited for',
};

/** The activities, each with its summary. */
function proxied(options: ActivityOptions): ActivityInterfaceFor<Activities> {
  return new Proxy(proxyActivities<Activities>(options), {
    get: (_, name: keyof Activities) => proxyActivities<Activities>({ ...options, summary: SUMMARIES[name] })[name],
  });
}

/**
 * Short work on the ledger and single calls to the service. Both come back after an outage, however long: a migration
 * lives for weeks, so these are tried for ever, at most a minute apart. What a worker took with it when it stopped is
 * another's after half a minute.
 */
export const shortActivities = proxied({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * The same, done by the worker that has the workflow in hand, before it answers the server: what is decided reaches the
 * ledger at half the cost. Once only, and not for long: whoever has decided waits for the answer meanwhile.
 */
export const localActivities = proxyLocalActivities<Pick<Activities, 'recordDecisions'>>({
  startToCloseTimeout: '1 second',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: SUMMARIES.recordDecisions,
});

/**
 * Checks look at many companies, one after the other, and heartbeat. Like other short work they come back after an
 * outage, however long.
 */
export const longActivities = proxied({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Slices: they last about a minute and heartbeat every five seconds. One whose worker died is given to another after
 * the heartbeat's time-out; one that was taken for dead claims nothing any more, so that this may be short. A cancelled one ends what is in the air before the run goes on, so that its outcome is written.
 */
export const sliceActivities = proxied({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** What is nice to have done at the end, and must not hold it up: the report says what is left. */
export const bestEffortActivities = proxied({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '15 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** A webhook that is down gets a notice late, or never: nobody waits for it. */
export const noticeActivities = proxied({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes', maximumAttempts: 12 },
  cancellationType: ActivityCancellationType.ABANDON,
});
