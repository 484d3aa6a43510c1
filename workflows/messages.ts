/**
 * Workflow types, signals, queries and search attributes: everything that other processes address by name.
 *
 * This file has no runtime imports but the SDK's definitions, so that the client can import it without the workflows.
 * Wire names are an interface: renaming one breaks running migrations and other people's programs.
 *
 * The decisions of people (`approve`, `pause`, ...) are not defined here: `migration/message-handlers.ts` defines each
 * of `DECISION_MESSAGES` twice. As a signal it is delivered even if every worker is down; as an update of the same name
 * it also returns the outcome. `domain/migration/parse-decision.ts` reads their fields.
 */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Counts } from '../domain/companies/company-state';
import type { Outcome } from '../domain/migration/decision';
import type { Route } from '../platforms/platforms';
import type { Progress } from '../domain/progress/progress';
import type { Outage } from '../domain/migration/outage';
import type { WindowOccurrence } from '../domain/planning/windows';

/** The workflow type of a migration by its route: the client starts it with the migration's id as workflow id. */
export const MIGRATIONS: Readonly<Record<Route, string>> = {
  managed: 'managedMigration',
  'self-service': 'selfServiceMigration',
};

/** The task queue of all workflows and activities. */
export const TASK_QUEUE = 'tokenferry';

/** The workflow type that closes a terminated migration: `sweep` and `ferry sweep --close` start it. */
export const CLOSE_TERMINATED = 'closeTerminated';

/** The workflow type that finds terminated migrations: a Schedule that the workers create starts it every hour. */
export const SWEEP = 'sweep';

/**
 * The search attributes of a migration: the columns that Temporal's lists show and filter by. They are not encrypted. Only three are integers, because a SQL visibility store has only three integer columns.
 */
export const SEARCH_ATTRIBUTES = {
  FerryStep: 'KEYWORD',
  FerryState: 'KEYWORD',
  FerryWaitingFor: 'KEYWORD',
  FerryCompaniesTotal: 'INT',
  FerryCompaniesDone: 'INT',
  FerryCompaniesFailed: 'INT',
} as const;

/**
 * Returns how far a migration is and who has to act. The client sends it for `ferry show`, `list`, `watch` and others.
 */
export const progressQuery = defineQuery<Progress>('progress');

/**
 * Returns the outcome of a decision. The client sends it after a decision that was sent as a signal, until it has been
 * applied. Null: not applied yet, or so long ago that only the audit trail holds the outcome.
 */
export const outcomeQuery = defineQuery<Outcome | null, [{ readonly decisionId: string }]>('outcome');

/**
 * Batch run to its migration, at most once a minute while companies move: the current counts. The migration shows them.
 */
export const batchProgressSignal = defineSignal<[Counts]>('batchProgress');

/**
 * Batch run to its migration: an outage began, was probed again without success, or (null) is over. The migration shows
 * it.
 */
export const outageSignal = defineSignal<[Outage | null]>('standstill');

/** `openWindow` to the migration: this window is open. A migration in step 6 then starts a batch run. */
export const windowOpenedSignal = defineSignal<[WindowOccurrence]>('windowOpened');

/**
 * Something changed outside the receiver: stop waiting and check what can be done now. The client sends it to a
 * migration whose Schedule a person has paused or resumed; a migration sends it to its batch run when a decision has
 * been recorded or a window has opened.
 */
export const wakeSignal = defineSignal('lookAgain');
