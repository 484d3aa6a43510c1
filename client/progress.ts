import { WorkflowNotFoundError } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import type { Counts } from '../domain/companies/company-state';
import type { Progress } from '../domain/progress/progress';
import { countCompanies, readMigration } from '../store';
import { digestsOf } from '../domain/progress/progress';
import { MIGRATIONS, progressQuery } from '../workflows/messages';
import { ask, NoWorker } from './ask';
import { missingKeyOf } from './missing-key';
import { NoSuchMigration } from './no-such-migration';
import type { LedgerClient, MigrationClient } from './open';
import { readTaskFailure, unknownKey } from './task-failure';

const ANSWER_WITHIN_MS = 10_000;

/**
 * How far a migration is: what its workflow says, with the counts of the ledger, which are newer, where we have it.
 *
 * @throws NoSuchMigration
 * @throws NoWorker
 */
export async function readProgress(
  ferry: MigrationClient,
  migrationId: string,
  withinMs: number = ANSWER_WITHIN_MS,
): Promise<Progress> {
  const progress = await askProgress(ferry, migrationId, withinMs);
  if (!ferry.db) return progress;
  const seen = { ...progress, counts: await countCompanies(ferry.db, migrationId) };
  return { ...seen, digests: digestsOf(seen) };
}

/**
 * How far a migration is, as its workflow knows: its counts may be a minute old.
 *
 * @throws NoSuchMigration
 * @throws NoWorker
 */
export function askProgress(ferry: MigrationClient, migrationId: string, withinMs: number): Promise<Progress> {
  return ask(ferry, migrationId, progressQuery, withinMs);
}

/** The same, or undefined when no worker answers: decisions are taken all the same. */
export async function progressIfAnswered(ferry: MigrationClient, migrationId: string): Promise<Progress | undefined> {
  try {
    return await readProgress(ferry, migrationId);
  } catch (error) {
    if (error instanceof NoWorker) return undefined;
    throw error;
  }
}

/** One line of the list of migrations, from Temporal's search attributes: no worker is needed to read it. */
export interface MigrationLine {
  readonly migrationId: string;
  readonly state: string;
  readonly step: string;
  readonly waitingFor: string;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly startedAt: Date;
  /** The payload key without which it cannot be read here; null: it can be. */
  readonly missingKey: string | null;
}

/** @param which those that have not ended alone; otherwise all that Temporal remembers */
export async function* listMigrations(ferry: MigrationClient, which?: 'open'): AsyncGenerator<MigrationLine> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const query = `WorkflowType IN (${types.join(', ')})${which === 'open' ? " AND ExecutionStatus = 'Running'" : ''}`;
  for await (const found of ferry.closed.workflow.list({ query })) {
    const text = (name: string): string => found.searchAttributes[name]?.[0]?.toString() ?? '';
    const count = (name: string): number => Number(text(name));
    yield {
      migrationId: found.workflowId,
      // A migration that was ended from outside never said so itself.
      state:
        found.status.name === 'RUNNING' || found.status.name === 'COMPLETED'
          ? text('FerryState')
          : found.status.name.toLowerCase(),
      step: text('FerryStep'),
      waitingFor: text('FerryWaitingFor'),
      total: count('FerryCompaniesTotal'),
      done: count('FerryCompaniesDone'),
      failed: count('FerryCompaniesFailed'),
      startedAt: found.startTime,
      missingKey: await missingKeyOf(ferry, found.raw.memo),
    };
  }
}

/** @throws NoSuchMigration */
export async function readCounts({ db }: LedgerClient, migrationId: string): Promise<Counts> {
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  return countCompanies(db, migrationId);
}

/**
 * How a migration was ended with Temporal's own tools, which its workflow never knew of: `terminated`, for example.
 * Null: it was not.
 *
 * @throws NoSuchMigration
 */
export async function readTerminationReason(
  { temporal }: MigrationClient,
  migrationId: string,
): Promise<string | null> {
  try {
    const { status } = await temporal.workflow.getHandle(migrationId).describe();
    return ['RUNNING', 'PAUSED', 'COMPLETED'].includes(status.name) ? null : status.name.toLowerCase();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NoSuchMigration(migrationId);
    throw error;
  }
}

/** What keeps failing and is tried again, in the words of its last failure: an outage of the service, for example. */
export async function readOutages(ferry: MigrationClient, migrationId: string): Promise<readonly string[]> {
  const { raw } = await ferry.closed.workflow.getHandle(migrationId).describe();
  const failures = (raw.pendingActivities ?? []).flatMap(({ attempt, lastFailure }) =>
    (attempt ?? 1) > 1 && lastFailure ? [lastFailure] : [],
  );
  const errors = failures.map((failure) =>
    decodeOptionalFailureToOptionalError(ferry.temporal.options.loadedDataConverter, failure).catch(unknownKey),
  );
  const messages = (await Promise.all(errors)).flatMap((error) => (error?.message ? [error.message] : []));
  const isStuck = (raw.pendingWorkflowTask?.attempt ?? 1) > 1;
  return isStuck ? [await readTaskFailure(ferry, migrationId), ...messages] : messages;
}
