/**
 * Workflow types, signals, queries and search attributes: everything that other processes address by name.
 *
 * This file imports only types, so that `client/` can import it without the workflows. Wire names are an interface: a
 * renamed message breaks running migrations and other people's programs.
 *
 * The decisions of people (`approve`, `pause`, ...) are not defined here. `migration/message-handlers.ts` defines each
 * of `DECISION_MESSAGES` twice: as a signal, which is delivered even if every worker is down, and as an update of the
 * same name, which also returns the outcome. `domain/migration/parse-decision.ts` parses their fields.
 */
import type { ScheduleOptions } from '@temporalio/client';
import type { QueryDefinition, SignalDefinition } from '@temporalio/common';
import type { Outcome } from '../domain/migration/decision';
import type { Route } from '../platforms/platforms';
import type { Progress } from '../domain/progress/progress';
import type { Outage } from '../domain/migration/outage';
import type { WindowOccurrence } from '../domain/planning/windows';

/** The workflow type of a migration, by route. `client/` starts it with the migration's id as the workflow id. */
export const MIGRATIONS: Readonly<Record<Route, string>> = {
  managed: 'managedMigration',
  'self-service': 'selfServiceMigration',
};

/** The task queue of all workflows and activities. */
export const TASK_QUEUE = 'tokenferry';

/** The workflow type of a batch run, which a migration starts as its child. */
export const BATCH_RUN = 'batchRun';

/**
 * The activities that work on slices. Each execution has its own trace, unless it belongs to the trace of a decision or
 * of the start of a migration (traces.ts).
 */
export const SLICE_ACTIVITIES: readonly string[] = ['importSlice', 'verifySlice', 'advanceFirstCompany'];

/** The workflow type that closes a terminated migration. `sweep` and `ferry sweep --close` start it. */
export const CLOSE_TERMINATED = 'closeTerminated';

/** The workflow type that repairs a ledger that was restored to an older state. `ferry reconcile` starts it. */
export const RECONCILE = 'reconcileLedger';

/** The workflow type that finds terminated migrations. A Schedule starts it every hour. */
export const SWEEP = 'sweep';

/** The interval of the sweep, in milliseconds. */
export const SWEEP_EVERY_MS = 3_600_000;

/**
 * Returns the Schedule that starts a sweep at regular intervals. The first sweep starts after one interval. A namespace
 * has one such Schedule, created by `ferry setup` or by the namespace's first worker.
 *
 * @param everyMs the interval in milliseconds, at least 1,000
 */
export function sweepSchedule(everyMs = SWEEP_EVERY_MS) {
  return {
    scheduleId: 'tokenferry-sweep',
    spec: { intervals: [{ every: everyMs, offset: Date.now() % everyMs }] },
    action: {
      type: 'startWorkflow',
      workflowType: SWEEP,
      workflowId: 'tokenferry-sweep',
      args: [],
      taskQueue: TASK_QUEUE,
      staticSummary: 'Close terminated migrations',
    },
    // After an outage, one sweep makes up for all missed ones.
    policies: { overlap: 'SKIP', catchupWindow: everyMs, pauseOnFailure: false },
    state: {
      note: 'Closes migrations that were terminated in Temporal. While this Schedule is paused, find them with: ferry sweep',
    },
  } as const satisfies ScheduleOptions;
}

/**
 * The search attributes of a migration, which are the columns that Temporal's lists show and filter by. They are not
 * encrypted. Only three are integers, because a SQL visibility store has only three integer columns.
 */
export const SEARCH_ATTRIBUTES = {
  FerryStep: 'KEYWORD',
  FerryState: 'KEYWORD',
  FerryWaitingFor: 'KEYWORD',
  FerryCompaniesTotal: 'INT',
  FerryCompaniesDone: 'INT',
  FerryCompaniesFailed: 'INT',
} as const;

/** The type of the failure with which a worker rejects an update whose payload key it does not have. */
export const UNKNOWN_PAYLOAD_KEY = 'UnknownPayloadKey';

/**
 * The same as the functions of these names in `@temporalio/workflow`. They are repeated here so that `ferry` does not
 * have to load that package.
 */
const defineQuery = <Answer, Args extends [unknown?] = []>(name: string) =>
  ({ type: 'query', name }) as QueryDefinition<Answer, Args>;
const defineSignal = <Args extends [unknown?] = []>(name: string) =>
  ({ type: 'signal', name }) as SignalDefinition<Args>;

/**
 * Returns how far a migration has got and who has to act. `client/` sends this query for `ferry show`, `ferry list` and
 * other commands.
 */
export const progressQuery = defineQuery<Progress>('progress');

/**
 * Returns the outcome of a decision; null if it has not been handled yet, or was handled so long ago that only the
 * audit trail still contains the outcome. After sending a decision as a signal, `client/` repeats this query until
 * there is an outcome or its time limit has passed.
 */
export const outcomeQuery = defineQuery<Outcome | null, [{ readonly decisionId: string }]>('outcome');

/**
 * Returns the highest mark of the ledger that the migration has seen (store/migrations/ledger-mark.ts); 0 if it has not
 * seen any. `client/` compares it with the ledger.
 */
export const ledgerMarkQuery = defineQuery<number>('ledgerMark');

/**
 * Tells the migration to count its companies again. A batch run sends it after slices have imported or verified
 * companies: often at first, later at most once a minute. `reconcileLedger` sends it because it has repaired the
 * ledger. Carries no counts, because anyone who may write to the namespace can send it.
 */
export const batchProgressSignal = defineSignal('batchProgress');

/**
 * Sends the current outage from a batch run to its migration, which shows it. Sent when the outage begins and after
 * every probe that fails; null when the outage is over or the run is ending.
 */
export const outageSignal = defineSignal<[Outage | null]>('outage');

/**
 * Tells the migration that a window is open. The workflow `openWindow` sends it. In step 6, a batch run can then begin
 * moves.
 */
export const windowOpenedSignal = defineSignal<[WindowOccurrence]>('windowOpened');

/**
 * Tells the receiver to stop waiting and check what can be done now. `client/` sends it to a migration whose Schedule a
 * person has paused or resumed. A migration sends it to its batch run when a decision has been recorded, a window has
 * opened, end customers have reconnected, or the migration itself has been woken.
 */
export const wakeSignal = defineSignal('wake');

/**
 * Asks the migration to check now whether end customers have reconnected, because a person is about to sign off.
 * `client/` and the portal's part of a worker send it. The query `progress` says when the last check took place.
 */
export const checkReconnectedSignal = defineSignal('checkReconnected');
