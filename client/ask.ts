import type { QueryDefinition } from '@temporalio/client';
import { QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client';
import { UnknownPayloadKey } from '../security';
import { NotReadable } from './missing-key';
import { NoSuchMigration } from './no-such-migration';
import type { MigrationClient } from './open';

/** Thrown when no worker answers for a migration: decisions are kept all the same, but nothing is applied. */
export class NoWorker extends Error {
  override readonly name: string = 'NoWorker';
  constructor(migrationId: string, options?: ErrorOptions, what = 'no worker answers for') {
    super(`${what} ${migrationId}`, options);
  }
}

/** Thrown when there is a worker, and it does not get as far as an answer: it cannot read the migration, or not follow it. */
export class WorkerFails extends NoWorker {
  override readonly name = 'WorkerFails';
  constructor(migrationId: string, options?: ErrorOptions) {
    super(migrationId, options, 'the worker cannot go on with');
  }
}

/** gRPC: broken off, not answered in time, too many questions open already, nobody known who could answer. */
const UNANSWERED: readonly unknown[] = [1, 4, 8, 9];

/** A question that a worker takes to its grave is lost; asked again, it reaches another one. */
const FIRST_ASKED_FOR_MS = 3_000;

/**
 * Asks a migration's workflow; a worker has to run for that.
 *
 * @throws NoWorker
 * @throws NoSuchMigration
 * @throws NotReadable
 */
export async function ask<Answer, Args extends [unknown?]>(
  ferry: MigrationClient,
  migrationId: string,
  query: QueryDefinition<Answer, Args>,
  withinMs: number,
  ...args: Args
): Promise<Answer> {
  const until = Date.now() + withinMs;
  try {
    return await askOnce(ferry, migrationId, query, Math.min(until, Date.now() + FIRST_ASKED_FOR_MS), args);
  } catch (error) {
    if (!(error instanceof NoWorker) || Date.now() >= until) throw error;
    return askOnce(ferry, migrationId, query, until, args);
  }
}

async function askOnce<Answer, Args extends [unknown?]>(
  { temporal }: MigrationClient,
  migrationId: string,
  query: QueryDefinition<Answer, Args>,
  until: number,
  args: Args,
): Promise<Answer> {
  try {
    return await temporal.withDeadline(until, () =>
      temporal.workflow.getHandle(migrationId).query<Answer, Args>(query, ...args),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NoSuchMigration(migrationId);
    if (error instanceof UnknownPayloadKey) throw new NotReadable(migrationId, error.keyId, { cause: error });
    // So the client calls whatever a worker answers with instead.
    if (error instanceof QueryNotRegisteredError) throw new WorkerFails(migrationId, { cause: error });
    const { cause } = error instanceof Error ? error : { cause: undefined };
    if (cause instanceof Error && 'code' in cause && UNANSWERED.includes(cause.code)) {
      throw new NoWorker(migrationId, { cause: error });
    }
    throw error;
  }
}
