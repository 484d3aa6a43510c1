import { WorkflowNotFoundError } from '@temporalio/client';
import type { Counts } from '../domain/companies/company-state';
import type { Progress } from '../domain/progress/progress';
import type { Database } from '../store';
import { countCompanies, readMigration } from '../store';
import { isEnding } from '../domain/migration/migration-state';
import { digestsOf } from '../domain/progress/progress';
import { terminatedProgress } from '../domain/progress/terminated';
import { MIGRATIONS, progressQuery } from '../workflows/messages';
import { abnormalStatus, progressFromLedger, readEndInTemporal } from './ended-migrations';
import { NoSuchMigration, NoWorker } from './errors';
import { missingPayloadKey } from './payload-keys';
import type { LedgerClient, MigrationClient } from './connect';
import { queryMigration } from './query';

const ANSWER_WITHIN_MS = 10_000;
/** How long to wait for a worker if the ledger knows how the migration has ended, in milliseconds. */
const END_WITHIN_MS = 3_000;

/**
 * Reads the progress of a migration: steps, counts, estimate, pause, and who must act. If the client has the ledger,
 * the ledger's counts replace the workflow's, because they are newer. Once the ledger says that the migration has
 * ended, its state and the ledger's agree, and no worker is needed. If the workflow has ended in Temporal before the
 * migration, the state is `terminated`.
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
  const { db } = ferry;
  const stored = db && (await readMigration(db, migrationId));
  const ending = stored?.ending ?? null;
  const [answer, endInTemporal] = await Promise.all([
    queryProgress(ferry, migrationId, ending === null ? withinMs : Math.min(withinMs, END_WITHIN_MS)).catch(unanswered),
    readEndInTemporal(ferry, migrationId, withinMs),
  ]);
  const isAnswered = !(answer instanceof NoWorker);
  if (isAnswered && (ending === null || answer.state === ending)) {
    const progress = await withCurrentCounts(db, answer);
    const hasEnded = ending !== null || (!stored && isEnding(answer.state));
    return endInTemporal === null || hasEnded ? progress : terminatedProgress(progress, endInTemporal);
  }
  if (!isAnswered && ending === null && endInTemporal === null) throw answer;
  if (!db || !stored) return unansweredWithoutLedger(answer);
  const progress = await progressFromLedger(db, stored);
  return endInTemporal === null || ending !== null ? progress : terminatedProgress(progress, endInTemporal);
}

function unansweredWithoutLedger(answer: Progress | NoWorker): Progress {
  if (answer instanceof NoWorker) throw answer;
  return answer;
}

function unanswered(error: unknown): NoWorker {
  if (error instanceof NoWorker) return error;
  throw error;
}

async function withCurrentCounts(db: Database | undefined, progress: Progress): Promise<Progress> {
  if (!db) return progress;
  const current = { ...progress, counts: await countCompanies(db, progress.migrationId) };
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

/** Maximum number of ids in a query, so that the query stays short. */
const MAX_IDS = 100;

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
  /** True if the workflow has ended in Temporal, but the migration has not ended: support has to close it. */
  readonly endedInTemporal: boolean;
  /** The id of the missing payload key if this migration cannot be read here; null if it can. */
  readonly missingKey: string | null;
}

/**
 * Lists migrations, including those whose payload key is missing here.
 *
 * @param which `open`: only migrations that have not ended; or only migrations with these ids, at most 100; otherwise
 *   all that Temporal still retains
 */
export async function* listMigrations(
  ferry: MigrationClient,
  which?: 'open' | readonly string[],
): AsyncGenerator<MigrationSummary> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const restriction =
    which === undefined
      ? ''
      : which === 'open'
        ? ' AND CloseTime IS NULL'
        : ` AND WorkflowId IN (${which
            .slice(0, MAX_IDS)
            .map((id) => `'${id}'`)
            .join(', ')})`;
  const query = `WorkflowType IN (${types.join(', ')})${restriction}`;
  for await (const found of ferry.temporalWithoutCodec.workflow.list({ query })) {
    const text = (name: string): string => found.searchAttributes[name]?.[0]?.toString() ?? '';
    const count = (name: string): number => Number(text(name));
    const hasEnded = !isOpenStatus(found.status.name);
    const total = count('FerryCompaniesTotal');
    const open = total - count('FerryCompaniesDone');
    // A terminated workflow could not update its own attributes.
    const abnormal = abnormalStatus(found.status.name);
    const ended = abnormal && (await stateAfterEnd(ferry, found.workflowId, abnormal));
    yield {
      migrationId: found.workflowId,
      state: ended?.state ?? text('FerryState'),
      step: text('FerryStep'),
      waitingFor: ended?.waitingFor ?? text('FerryWaitingFor'),
      total,
      done: hasEnded ? total : total - open,
      failed: count('FerryCompaniesFailed') + (hasEnded ? open : 0),
      startedAt: found.startTime,
      endedInTemporal: ended?.endedInTemporal ?? false,
      missingKey: await missingPayloadKey(ferry, found.raw.memo),
    };
  }
}

/**
 * Returns the state of a migration whose workflow has ended abnormally, and who must act. If the migration has ended,
 * its state is the state in the ledger.
 */
async function stateAfterEnd(
  { db }: MigrationClient,
  migrationId: string,
  abnormal: string,
): Promise<Pick<MigrationSummary, 'state' | 'waitingFor' | 'endedInTemporal'>> {
  const ending = (db && (await readMigration(db, migrationId)))?.ending ?? null;
  return ending === null
    ? { state: abnormal, waitingFor: 'support', endedInTemporal: true }
    : { state: ending, waitingFor: 'nobody', endedInTemporal: false };
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

/** Returns whether a workflow with this Temporal status has not ended. */
const isOpenStatus = (name: string): boolean => ['RUNNING', 'PAUSED'].includes(name);

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
    const isOpen = isOpenStatus(status.name);
    return { isOpen, abnormal: isOpen || status.name === 'COMPLETED' ? null : status.name.toLowerCase() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NoSuchMigration(migrationId);
    throw error;
  }
}
