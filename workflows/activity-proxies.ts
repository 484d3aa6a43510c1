/**
 * The proxies through which workflows call activities, one per set of timeouts, retry policy and cancellation type.
 *
 * With TRY_CANCEL, a workflow continues as soon as it has requested the cancellation of an activity. With
 * WAIT_CANCELLATION_COMPLETED, it continues only after the activity has ended. With ABANDON, the activity is not
 * cancelled.
 */
import {
  ActivityCancellationType,
  proxyActivities,
  type ActivityInterfaceFor,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../activities';

/** The default summary of each activity in the Temporal UI. Some callers replace it with a more specific summary. */
const SUMMARIES: Readonly<Record<keyof Activities, string>> = {
  openMigration: 'Open the migration',
  preflight: 'Check the supplied details',
  estimatePlan: 'Estimate the duration',
  estimateRemaining: 'Estimate the remaining duration',
  countCompanies: 'Count the companies',
  recordDecisions: 'Record decisions',
  pauseMigration: 'Pause the migration',
  findWindow: 'Find the current or next window',
  updateSchedule: 'Update the window schedule',
  deleteSchedule: 'Delete the window schedule',
  chooseFirstCompany: 'Choose the first company',
  advanceFirstCompany: 'Move and check the first company',
  beginRun: 'Begin the batch run',
  probeService: 'Check whether the service responds',
  importSlice: 'Move companies',
  verifySlice: 'Check companies that are syncing',
  checkReconnected: 'Check whether end customers have reconnected',
  recordTermination: 'Record that the migration no longer runs in Temporal',
  resolveInterrupted: 'Find out what happened to interrupted companies',
  closeMigration: 'Close the migration and destroy its credentials',
  deleteUnused: 'Remove unused companies from the service',
  findTerminated: 'Find terminated migrations',
  reconcileLedger: 'Repair the ledger from Temporal and the service',
  sendNotice: 'Send a notice',
};

/** Proxies all activities with the same options, each with its own summary. */
function proxyWithSummaries(options: ActivityOptions): ActivityInterfaceFor<Activities> {
  return new Proxy(proxyActivities<Activities>(options), {
    get: (_, name: keyof Activities) => proxyActivities<Activities>({ ...options, summary: SUMMARIES[name] })[name],
  });
}

/**
 * Activities that take a few seconds at most: work on the ledger and on the window Schedule, and a few calls to the
 * service.
 *
 * Retried indefinitely, at most a minute apart, because a migration must survive any outage. An attempt times out after
 * 30 seconds, and then another worker takes over. TRY_CANCEL, because every one of these activities can be repeated.
 */
export const shortActivities = proxyWithSummaries({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Activities that work through all companies of a migration, or all migrations: the preflight, the polls for
 * reconnected companies, the reconciliation, and the sweep.
 *
 * An attempt may take half an hour, because a manifest can contain thousands of companies. After two minutes without a
 * heartbeat, another worker takes over. Retried indefinitely, at most a minute apart, because a migration must survive
 * any outage. TRY_CANCEL, because every one of these activities can be repeated.
 */
export const longActivities = proxyWithSummaries({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * The check for reconnected companies while a person is waiting for its result.
 *
 * At most three attempts within 20 seconds, because the person then continues with the last known result. TRY_CANCEL,
 * because the check can be repeated.
 */
export const promptActivities = proxyWithSummaries({
  startToCloseTimeout: '15 seconds',
  scheduleToCloseTimeout: '20 seconds',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumAttempts: 3 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Activities that run a slice. They move or verify companies for about a minute and heartbeat every six seconds.
 *
 * After 15 seconds without a heartbeat, another worker takes over. The timeout can be this short, because a worker that
 * was merely slow cannot claim any more companies once a newer attempt of its slice has begun. Retried indefinitely, at
 * most 30 seconds apart, because a migration must survive any outage. WAIT_CANCELLATION_COMPLETED, because a cancelled
 * slice must finish the requests in flight and write their outcomes before the run continues.
 */
export const sliceActivities = proxyWithSummaries({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Best-effort work at the end of a migration: the removal of unused companies.
 *
 * At most five attempts within 15 minutes, because closing the migration must not take longer. The report lists the
 * companies that could not be removed. TRY_CANCEL, because the removal can be repeated.
 */
export const bestEffortActivities = proxyWithSummaries({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '15 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * The delivery of notices.
 *
 * Twelve attempts, at most ten minutes apart (about an hour in all), because a notice that arrives later is of no use.
 * ABANDON, because a notice that is already being sent should still arrive.
 */
export const noticeActivities = proxyWithSummaries({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes', maximumAttempts: 12 },
  cancellationType: ActivityCancellationType.ABANDON,
});
