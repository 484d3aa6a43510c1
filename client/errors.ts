/** The errors of the client, one class per outcome, and short texts about what cannot be reached. */
import { ServiceError } from '@temporalio/client';

/** Thrown when Temporal or Postgres does not answer at its configured address. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /**
   * @param what the server that does not answer
   * @param where its host and port, without credentials
   */
  constructor(
    readonly what: 'Temporal' | 'Postgres',
    readonly where: string,
    options?: ErrorOptions,
  ) {
    super(`${what} does not answer at ${where}`, options);
  }
}

/** Thrown when neither the ledger nor Temporal has a migration with this id. */
export class NoSuchMigration extends Error {
  override readonly name = 'NoSuchMigration';
  constructor(migrationId: string) {
    super(`there is no migration ${migrationId}`);
  }
}

/** Thrown when a decision is sent to a migration that has ended. */
export class MigrationClosed extends Error {
  override readonly name = 'MigrationClosed';
  /** @param ending `completed`, `abandoned`, `cancelled`, or `closed` if the ledger does not say how it ended */
  constructor(migrationId: string, ending: string) {
    super(`migration ${migrationId} is ${ending}: it takes no more decisions`);
  }
}

/** Thrown when a migration's payloads were encrypted with a payload key that this process does not have. */
export class PayloadKeyMissing extends Error {
  override readonly name = 'PayloadKeyMissing';
  constructor(migrationId: string, keyId: string, options?: ErrorOptions) {
    super(`${migrationId} cannot be read here: payload key ${keyId} is missing`, options);
  }
}

/** Thrown when no worker answers a query. Temporal still keeps decisions, and a worker applies them later. */
export class NoWorker extends Error {
  override readonly name: string = 'NoWorker';
  constructor(migrationId: string, options?: ErrorOptions, what = 'no worker answers for') {
    super(`${what} ${migrationId}`, options);
  }
}

/** Thrown when a worker runs but its workflow tasks fail: it lacks a payload key, or has another version of the code. */
export class WorkflowTaskFailing extends NoWorker {
  override readonly name = 'WorkflowTaskFailing';
  constructor(migrationId: string, options?: ErrorOptions) {
    super(migrationId, options, 'the worker cannot continue');
  }
}

/** Picks from several failures the one that explains the others: without Temporal, no worker can be queried either. */
export function firstConnectionError(errors: readonly unknown[]): unknown {
  return [...errors].sort((a, b) => rank(a) - rank(b))[0];
}

function rank(error: unknown): number {
  if (isBug(error)) return 0;
  if (error instanceof ServiceError) return 1;
  return error instanceof NoWorker ? 3 : 2;
}

/**
 * Says in a few words what does not answer, for a display that keeps refreshing.
 *
 * @throws the error itself if it is a bug in this program
 */
export function connectionErrorText(error: unknown): string {
  if (isBug(error)) throw error;
  if (error instanceof ServiceError) return 'Temporal does not answer';
  if (error instanceof NoWorker) return 'no worker answers: decisions are kept, and applied when one does';
  return error instanceof NoSuchMigration ? error.message : 'the database does not answer';
}

const isBug = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;
