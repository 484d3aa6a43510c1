/**
 * The activities as workflows call them: one proxy per set of timeouts, retries and cancellation type.
 *
 * Every proxy states its timeouts, its retry policy and its cancellation type. With TRY_CANCEL the workflow continues
 * as soon as it has requested the cancellation, with WAIT_CANCELLATION_COMPLETED only after the activity has ended, and
 * with ABANDON the activity is not told.
 */
import type { ActivityInterfaceFor, ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** The summary of each activity in the Temporal UI. Callers replace it where more can be said. */
const SUMMARIES: Readonly<Record<keyof Activities, string>> = {
  openMigration: 'Open the migration',
  preflight: 'Check the supplied details',
  estimatePlan: 'Estimate the duration',
  estimateRest: 'Estimate the remaining duration',
  count: 'Count the companies',
  recordDecisions: 'Record decisions',
  setPaused: 'Pause the migration',
  openWindow: 'Set the current or next window',
  keepSchedule: 'Update the schedule of the windows',
  deleteSchedule: 'Delete the schedule of the windows',
  chooseFirstCompany: 'Choose the first company',
  advanceFirstCompany: 'Move and check the first company',
  beginRun: 'Begin the batch run',
  askService: 'Ask whether the service responds',
  importSlice: 'Move companies',
  verifyDue: 'Check companies that are syncing',
  lookForRelinked: 'Check whether owners have reconnected their companies',
  settleInterrupted: 'Find out what happened to interrupted companies',
  closeMigration: 'Close the migration and destroy its credentials',
  removeUnused: 'Remove companies that were created but not used',
  lookForLeftBehind: 'Find terminated migrations',
  postNotice: 'Send a notice',
};

/** Proxies all activities with the same options, each with its own summary. */
function proxied(options: ActivityOptions): ActivityInterfaceFor<Activities> {
  return new Proxy(proxyActivities<Activities>(options), {
    get: (_, name: keyof Activities) => proxyActivities<Activities>({ ...options, summary: SUMMARIES[name] })[name],
  });
}

/**
 * Work on the ledger and single calls to the service: a few seconds at most.
 *
 * Retried indefinitely, at most a minute apart, because a migration must survive any outage. An attempt may take 30
 * seconds; after that another worker takes over. Cancelled with TRY_CANCEL, because every activity here can be
 * repeated.
 */
export const shortActivities = proxied({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * `recordDecisions` as a local activity in the worker that runs the workflow task: it costs half as much, and the decision reaches the ledger before its sender gets the answer.
 *
 * One attempt of one second, because the sender waits; if it fails, the caller uses `shortActivities`. Cancelled with
 * TRY_CANCEL, because recording a decision twice changes nothing.
 */
export const localActivities = proxyLocalActivities<Pick<Activities, 'recordDecisions'>>({
  startToCloseTimeout: '1 second',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  summary: SUMMARIES.recordDecisions,
});

/**
 * Checks that go through all companies of a migration, or through all migrations: the preflight, the polls for
 * reconnected companies, the sweep.
 *
 * Half an hour per attempt, because a manifest can hold thousands of companies. They heartbeat; after two minutes without a heartbeat, another worker takes over. Retried indefinitely, at most a minute apart, because a migration must survive
 * any outage. Cancelled with TRY_CANCEL, because every check can be repeated.
 */
export const longActivities = proxied({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Slices: they move or verify companies for about a minute, and heartbeat every five seconds.
 *
 * After 15 seconds without a heartbeat another worker takes over. That can be short, because a worker that was only
 * slow can claim no more companies once its slice belongs to another attempt. Retried indefinitely, at most 30 seconds
 * apart, because a migration must survive any outage. Cancelled with WAIT_CANCELLATION_COMPLETED: a slice finishes the
 * requests that are in flight and writes their outcome before the run continues.
 */
export const sliceActivities = proxied({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Best effort at the end of a migration: the removal of unused companies.
 *
 * Five attempts within 15 minutes in all, because the closing must not wait longer; the report lists what is left.
 * Cancelled with TRY_CANCEL, because the removal can be repeated.
 */
export const bestEffortActivities = proxied({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '15 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Notices to a webhook.
 *
 * Twelve attempts, at most ten minutes apart (about an hour in all), because a notice that arrives later is of no use.
 * ABANDON on cancellation, because a notice in flight is still wanted.
 */
export const noticeActivities = proxied({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes', maximumAttempts: 12 },
  cancellationType: ActivityCancellationType.ABANDON,
});
