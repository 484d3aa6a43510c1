/**
 * The messages of a migration: signals, updates and queries. No runtime imports but the SDK's definitions.
 *
 * Wire names are an interface: they are never renamed. Every decision exists as a signal, which works while all workers
 * are down, and as an update of the same name, which answers with what became of it. Their fields are read by
 * `domain/migration/parse-decision.ts`.
 */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Counts } from '../domain/companies/company-state';
import type { Outcome } from '../domain/migration/decision';
import type { Route } from '../platforms/platforms';
import type { Progress } from '../domain/progress/progress';
import type { Outage } from '../domain/migration/outage';
import type { WindowOccurrence } from '../domain/planning/windows';

/** The workflow type of each route, and the one task queue. */
export const MIGRATIONS: Readonly<Record<Route, string>> = {
  managed: 'managedMigration',
  'self-service': 'selfServiceMigration',
};
export const TASK_QUEUE = 'tokenferry';

/** What ends a migration in order that was terminated. */
export const CLOSE_TERMINATED = 'closeTerminated';

/** What looks for terminated migrations, and has them ended. */
export const SWEEP = 'sweep';

/** The search attributes of a migration. A SQL visibility store has room for three integers. */
export const SEARCH_ATTRIBUTES = {
  FerryStep: 'KEYWORD',
  FerryState: 'KEYWORD',
  FerryWaitingFor: 'KEYWORD',
  FerryCompaniesTotal: 'INT',
  FerryCompaniesDone: 'INT',
  FerryCompaniesFailed: 'INT',
} as const;

export const progressQuery = defineQuery<Progress>('progress');
/** What became of a decision; null: not applied yet, or so long ago that only the audit trail knows. */
export const outcomeQuery = defineQuery<Outcome | null, [{ readonly decisionId: string }]>('outcome');

/** A batch run tells its migration how far it is: at most once a minute. */
export const batchProgressSignal = defineSignal<[Counts]>('batchProgress');

/** A batch run stands still, or (null) goes on again. */
export const standstillSignal = defineSignal<[Outage | null]>('standstill');

/** A window has opened: sent by what the migration's Schedule starts. */
export const windowOpenedSignal = defineSignal<[WindowOccurrence]>('windowOpened');

/** Something has changed that may be acted on: a migration or a batch run looks at once what there is to do now. */
export const lookAgainSignal = defineSignal('lookAgain');
