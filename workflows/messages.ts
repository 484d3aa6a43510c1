/**
 * The messages of a managed migration: signals, updates and queries. No runtime imports but the SDK's definitions.
 *
 * Wire names are an interface: they are never renamed. Every decision exists as a signal, which works while all workers
 * are down, and as an update of the same name, which answers with what became of it. Their fields are read by
 * `domain/read-decision.ts`.
 */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Counts } from '../domain/company-state';
import type { Outcome } from '../domain/decision';
import type { Progress } from '../domain/progress';

/** The workflow types and the one task queue. */
export const MANAGED_MIGRATION = 'managedMigration';
export const TASK_QUEUE = 'tokenferry';

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
