import { WorkflowNotFoundError } from '@temporalio/client';
import type { Counts } from '../domain/companies/company-state';
import type { Progress } from '../domain/progress/progress';
import { countCompanies, readMigration } from '../store';
import { digestsOf } from '../domain/progress/progress';
import { MIGRATIONS, progressQuery } from '../workflows/messages';
import { NoSuchMigration, NoWorker } from './errors';
import { missingPayloadKey } from './payload-keys';
import type { LedgerClient, MigrationClient } from './connect';
import { queryMigration } from './query';

const ANSWER_WITHIN_MS = 10_000;

/**
 * Reads the progress of a migration: steps, counts, estimate, pause, and who must act. If the client has the ledger,
 * the ledger's counts replace the workflow's, because they are newer.
 *
 * @param withinMs how long to wait for a worker, in milliseconds
 * @throws NoSuchMigration
 * @throws NoWorker
 * @throws PayloadKeyMissing
 */
export async function readProgress(
  ferry: MigrationClient,
  migrationId: string,
  withinMs: number = ANSWER_WITHIN_MS,
): Promise<Progress> {
  const progress = await queryProgress(ferry, migrationId, withinMs);
  if (!ferry.db) return progress;
  const current = { ...progress, counts: await countCompanies(ferry.db, migrationId) };
  return { ...current, digests: digestsOf(current) };
}

/**
 * Reads the progress from the workflow only, without the ledger. The workflow's counts can be a minute old.
 *
 * @param withinMs how long to wait for a worker, in milliseconds
 * @throws NoSuchMigration
 * @throws NoWorker
 * @throws PayloadKeyMissing
 */
export function queryProgress(ferry: MigrationClient, migrationId: string, withinMs: number): Promise<Progress> {
  return queryMigration(ferry, migrationId, progressQuery, withinMs);
}

/**
 * Reads the progress like {@link readProgress}.
 *
 * @returns undefined if no worker is answering
 * @throws NoSuchMigration
 * @throws PayloadKeyMissing
 */
export async function readProgressIfAnswered(
  ferry: MigrationClient,
  migrationId: string,
): Promise<Progress | undefined> {
  try {
    return await readProgress(ferry, migrationId);
  } catch (error) {
    if (error instanceof NoWorker) return undefined;
    throw error;
  }
}

/** A migration in the list. It is read from Temporal's search attributes, so no worker is needed. */
export interface MigrationSummary {
  readonly migrationId: string;
  /**
   * The state: `running`, `waiting`, `paused`, `completed`, `abandoned`, `cancelled`, or a Temporal status such as
   * `terminated`.
   */
  readonly state: string;
  /** The current step; `self-service` for a migration of that route. */
  readonly step: string;
  /** The roles that must act, or `nobody`. */
  readonly waitingFor: string;
  /** Number of companies in the manifest. */
  readonly total: number;
  /** Number of companies with a final outcome, good or bad: all of them once the migration has ended. */
  readonly done: number;
  /** Number of companies that were not moved. */
  readonly failed: number;
  readonly startedAt: Date;
  /** The id of the missing payload key if this migration cannot be read here; null if it can. */
  readonly missingKey: string | null;
}

/**
 * Lists migrations, including those whose payload key is missing here.
 *
 * @param which `open`: only migrations that have not ended; otherwise all that Temporal still retains
 */
export async function* listMigrations(ferry: MigrationClient, which?: 'open'): AsyncGenerator<MigrationSummary> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const query = `WorkflowType IN (${types.join(', ')})${which === 'open' ? ' AND CloseTime IS NULL' : ''}`;
  for await (const found of ferry.temporalWithoutCodec.workflow.list({ query })) {
    const text = (name: string): string => found.searchAttributes[name]?.[0]?.toString() ?? '';
    const count = (name: string): number => Number(text(name));
    const hasEnded = found.status.name !== 'RUNNING';
    const total = count('FerryCompaniesTotal');
    const open = total - count('FerryCompaniesDone');
    yield {
      migrationId: found.workflowId,
      // A terminated workflow could not update its own state attribute.
      state:
        found.status.name === 'RUNNING' || found.status.name === 'COMPLETED'
          ? text('FerryState')
          : found.status.name.toLowerCase(),
      step: text('FerryStep'),
      waitingFor: text('FerryWaitingFor'),
      total,
      done: hasEnded ? total : total - open,
      failed: count('FerryCompaniesFailed') + (hasEnded ? open : 0),
      startedAt: found.startTime,
      missingKey: await missingPayloadKey(ferry, found.raw.memo),
    };
  }
}

/**
 * Counts the companies of a migration in each state, from the ledger. No worker is needed.
 *
 * @throws NoSuchMigration
 */
export async function readCounts({ db }: LedgerClient, migrationId: string): Promise<Counts> {
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  return countCompanies(db, migrationId);
}

/** The Temporal status of a migration's workflow. */
export interface RunStatus {
  /** False once the workflow has ended. */
  readonly isOpen: boolean;
  /** How the workflow ended, if it did not complete normally, for example `terminated`; otherwise null. */
  readonly abnormal: string | null;
}

/**
 * Reads the Temporal status of a migration, which the workflow itself cannot report.
 *
 * @throws NoSuchMigration
 */
export async function readRunStatus({ temporal }: MigrationClient, migrationId: string): Promise<RunStatus> {
  try {
    const { status } = await temporal.workflow.getHandle(migrationId).describe();
    const isOpen = ['RUNNING', 'PAUSED'].includes(status.name);
    return { isOpen, abnormal: isOpen || status.name === 'COMPLETED' ? null : status.name.toLowerCase() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NoSuchMigration(migrationId);
    throw error;
  }
}
