import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { Counts } from '../domain/companies/counts';
import { withActingRoles } from '../domain/progress/acting-roles';
import {
  countCompanies,
  readMigration,
  readPreflightTexts,
  readResults,
  type Database,
  type ResultInLedger,
} from '../store';
import { withNames, type Preflight } from '../domain/migration/preflight-result';
import { isEnding } from '../domain/migration/migration-state';
import { digestsOf, type Progress } from '../domain/progress/progress';
import { terminatedProgress } from '../domain/progress/terminated';
import { MIGRATIONS, progressQuery } from '../workflows/messages';
import { abnormalStatus, progressFromLedger, readEndInTemporal } from './ended-migrations';
import { NoSuchMigration, NoWorker } from './errors';
import { missingPayloadKey } from './payload-keys';
import type { LedgerClient, MigrationClient } from './connect';
import { queryMigration } from './query';
import { describeIfFound, isInProgress } from './workflow-ids';

const ANSWER_WITHIN_MS = 10_000;
/** How long to wait for a worker if the ledger knows how the migration has ended, in milliseconds. */
const END_WITHIN_MS = 3_000;

/**
 * Reads the progress of a migration: steps, counts, estimate, pause, and who must act. If `ferry` is connected to the
 * ledger's database, the texts of the preflight name other clients' migrations, and the ledger's counts replace the
 * workflow's, which are older. Once the migration has ended in the ledger, the result has the ledger's state, and no
 * worker is needed. If the workflow has ended in Temporal before the migration, the state is `terminated`.
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
  const fromLedger = db && stored ? () => progressFromLedger(db, stored) : undefined;
  let progress: Progress;
  if (answer instanceof NoWorker) {
    if (!fromLedger || (ending === null && endInTemporal === null)) throw answer;
    progress = await fromLedger();
  } else {
    const isOutOfDate = ending !== null && answer.state !== ending;
    progress = isOutOfDate && fromLedger ? await fromLedger() : await withCurrentCounts(db, answer);
  }
  if (db) progress = await withFullTexts(db, progress);
  const hasEnded = ending !== null || (!stored && isEnding(progress.state));
  return endInTemporal === null || hasEnded ? progress : terminatedProgress(progress, endInTemporal);
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

/** Completes the preflight from the ledger. The digests stay the same. */
async function withFullTexts(db: Database, progress: Progress): Promise<Progress> {
  const { migrationId, preflight } = progress;
  return preflight ? { ...progress, preflight: await preflightInFull(db, migrationId, preflight) } : progress;
}

/**
 * Adds to a preflight what the ledger keeps for support: the names of other clients, advice, and an application that
 * can belong to another client.
 */
export async function preflightInFull(db: Database, migrationId: string, preflight: Preflight): Promise<Preflight> {
  const texts = await readPreflightTexts(db, migrationId);
  return texts ? withNames(preflight, texts) : preflight;
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
  return queryMigration(ferry, migrationId, progressQuery, withinMs).then(withActingRoles);
}

/**
 * Reads the progress like {@link readProgress}.
 *
 * @returns the reason if there is no answer: no worker is answering, or the worker cannot continue
 * @throws NoSuchMigration
 * @throws PayloadKeyMissing
 */
export async function readProgressOrReason(ferry: MigrationClient, migrationId: string): Promise<Progress | NoWorker> {
  return readProgress(ferry, migrationId).catch(unanswered);
}

/**
 * Reads the progress like {@link readProgress}.
 *
 * @returns undefined if no worker is answering, or if the worker cannot continue
 * @throws NoSuchMigration
 * @throws PayloadKeyMissing
 */
export async function readProgressIfAnswered(
  ferry: MigrationClient,
  migrationId: string,
): Promise<Progress | undefined> {
  const progress = await readProgressOrReason(ferry, migrationId);
  return progress instanceof NoWorker ? undefined : progress;
}

/** Maximum number of ids in a query, so that the query stays short. */
const MAX_IDS = 100;

/**
 * A migration in the list. Read from Temporal's search attributes, so no worker is needed. If the workflow has ended
 * abnormally and the ledger can be read, the state and the counts come from the ledger.
 */
export interface MigrationSummary {
  readonly migrationId: string;
  /** The state: `running`, `waiting`, `paused`, `terminated`, `completed`, `abandoned` or `cancelled`. */
  readonly state: string;
  /** The current step; `self-service` for a migration of that route. */
  readonly step: string;
  /** The roles that must act, or `nobody`. */
  readonly waitingFor: string;
  /** Number of companies in the manifest. */
  readonly total: number;
  /**
   * Number of companies with a final outcome, good or bad. Once the workflow has ended, all companies count. If it has
   * ended abnormally and the ledger can be read, the companies that were moving do not count.
   */
  readonly done: number;
  /** Number of companies that failed. Once the workflow has ended, the companies not moved yet count as well. */
  readonly failed: number;
  readonly startedAt: Date;
  /**
   * True if the workflow has ended abnormally, and the ledger does not show that the migration has ended: support has
   * to close the migration.
   */
  readonly endedInTemporal: boolean;
  /** The id of the missing payload key if this migration cannot be read here; null if it can. */
  readonly missingKey: string | null;
}

/**
 * Lists migrations, including those whose payload key is missing here. Lists each migration once, with its newest run:
 * after a reset, Temporal also lists the run that the reset has ended.
 *
 * @param which `open`: only migrations whose workflow has not ended. A list of ids: only these migrations, and only the
 *   first 100 of them. Default: all that Temporal still retains
 */
export async function* listMigrations(
  ferry: MigrationClient,
  which?: 'open' | readonly string[],
): AsyncGenerator<MigrationSummary> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const query = `WorkflowType IN (${types.join(', ')})${restrictionOf(which)}`;
  let batch: WorkflowExecutionInfo[] = [];
  const listed = new Set<string>();
  // Temporal lists the runs that have not ended first, and then the others, newest end first.
  for await (const found of ferry.temporalWithoutCodec.workflow.list({ query })) {
    if (listed.has(found.workflowId)) continue;
    listed.add(found.workflowId);
    batch.push(found);
    // Workflows are collected, so that the ledger is read once for many. If only open workflows are listed, each is
    // yielded immediately, because the ledger is read only for workflows that have ended abnormally.
    if (which !== 'open' && batch.length < READ_AT_ONCE) continue;
    yield* summariesOf(ferry, batch);
    batch = [];
  }
  yield* summariesOf(ferry, batch);
}

function restrictionOf(which: 'open' | readonly string[] | undefined): string {
  if (which === undefined) return '';
  if (which === 'open') return ' AND CloseTime IS NULL';
  const ids = which.slice(0, MAX_IDS).map((id) => `'${id}'`);
  return ` AND WorkflowId IN (${ids.join(', ')})`;
}

/** Maximum number of workflows whose migrations are read from the ledger with one statement. */
const READ_AT_ONCE = 1_000;

async function* summariesOf(
  ferry: MigrationClient,
  workflows: readonly WorkflowExecutionInfo[],
): AsyncGenerator<MigrationSummary> {
  const abnormal = workflows.filter(({ status }) => abnormalStatus(status.name) !== null);
  const ids = abnormal.map(({ workflowId }) => workflowId);
  const results = ferry.db ? await readResults(ferry.db, ids) : [];
  const resultOf = new Map(results.map((result) => [result.migrationId, result]));
  for (const found of workflows) {
    const text = (name: string): string => found.searchAttributes[name]?.[0]?.toString() ?? '';
    const count = (name: string): number => Number(text(name));
    const total = count('FerryCompaniesTotal');
    const hasEnded = !isInProgress(found);
    const open = total - count('FerryCompaniesDone');
    const inTemporal = {
      ...{ state: text('FerryState'), waitingFor: text('FerryWaitingFor'), endedInTemporal: false },
      ...{ total, done: hasEnded ? total : total - open },
      failed: count('FerryCompaniesFailed') + (hasEnded ? open : 0),
    };
    const after = abnormal.includes(found) ? afterAbnormalEnd(resultOf.get(found.workflowId)) : {};
    yield {
      migrationId: found.workflowId,
      step: text('FerryStep'),
      startedAt: found.startTime,
      ...{ ...inTemporal, ...after },
      missingKey: await missingPayloadKey(ferry, found.raw.memo),
    };
  }
}

/**
 * Returns what the ledger knows about a migration whose workflow has ended abnormally, because such a workflow could
 * not update its own search attributes.
 */
function afterAbnormalEnd(
  result: ResultInLedger | undefined,
): Pick<MigrationSummary, 'state' | 'waitingFor' | 'endedInTemporal'> &
  Partial<Pick<MigrationSummary, 'total' | 'done' | 'failed'>> {
  if (!result) return TERMINATED;
  const { ending, total, done, failed } = result;
  const state = ending === null ? TERMINATED : { state: ending, waitingFor: 'nobody', endedInTemporal: false };
  return { ...state, total, done, failed };
}

const TERMINATED = { state: 'terminated', waitingFor: 'support', endedInTemporal: true } as const;

/**
 * Counts the companies of a migration in each state, from the ledger. No worker is needed.
 *
 * @throws NoSuchMigration
 */
export async function readCounts({ db }: LedgerClient, migrationId: string): Promise<Counts> {
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  return countCompanies(db, migrationId);
}

/**
 * Asks Temporal whether the workflow of a migration has not ended.
 *
 * @throws NoSuchMigration
 */
export async function isWorkflowOpen({ temporal }: MigrationClient, migrationId: string): Promise<boolean> {
  const found = await describeIfFound(temporal.workflow, migrationId);
  if (!found) throw new NoSuchMigration(migrationId);
  return isInProgress(found);
}
