/** The errors of the client, one class per kind of failure, and short texts about connection failures. */
import { NamespaceNotFoundError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { CANNOT_CONTINUE } from '../domain/progress/worker-advice';

/** Thrown when Temporal or Postgres cannot be reached at its configured address. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /**
   * @param what the server that cannot be reached
   * @param where the server's host and port, without credentials
   * @param options `reason` is the server's own reason, for example that it has no free connection; null if it gave
   *   none
   */
  constructor(
    readonly what: 'Temporal' | 'Postgres',
    readonly where: string,
    { reason = null, ...options }: ErrorOptions & { readonly reason?: string | null } = {},
  ) {
    super(`cannot reach ${what} at ${where}${reason === null ? '' : `: ${reason}`}`, options);
  }
}

/** Thrown when a namespace cannot be prepared for workers. */
export class SetupFailed extends Error {
  override readonly name = 'SetupFailed';
  /**
   * @param message what is missing or wrong
   * @param advice what to do about it
   */
  constructor(
    message: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Thrown when there is no migration with this id where it was looked up: in the ledger, in Temporal or in both. */
export class NoSuchMigration extends Error {
  override readonly name = 'NoSuchMigration';
  constructor(readonly migrationId: string) {
    super(`there is no migration ${migrationId}`);
  }
}

/** Thrown when a migration is started again before a worker has opened it. Its workflow is running. */
export class MigrationRunning extends Error {
  override readonly name = 'MigrationRunning';
  constructor(readonly migrationId: string) {
    super(`migration ${migrationId} has already been started, so this start was refused`);
  }
}

/** Thrown when a decision is sent to a migration that has ended. */
export class MigrationClosed extends Error {
  override readonly name = 'MigrationClosed';
  /**
   * @param ending `completed`, `abandoned`, `cancelled`, `terminated` if only the workflow has ended, or `closed` if it
   *   is not known how the migration ended
   */
  constructor(
    readonly migrationId: string,
    readonly ending: string,
  ) {
    super(`migration ${migrationId} is ${ending} and accepts no more decisions`);
  }
}

/**
 * Thrown when a decision is sent although the ledger is known to be behind. A decision that is signed now is newer than
 * the lost decisions. When the lost decisions are restored, those of the same person would then be refused as out of
 * order.
 */
export class LedgerBehind extends Error {
  override readonly name = 'LedgerBehind';
  constructor(migrationId: string) {
    super(`the ledger of ${migrationId} is out of date; repair it first with: ferry reconcile ${migrationId}`);
  }
}

/** Thrown when a migration's payloads were encrypted with a payload key that this process does not have. */
export class PayloadKeyMissing extends Error {
  override readonly name = 'PayloadKeyMissing';
  constructor(migrationId: string, keyId: string, options?: ErrorOptions) {
    super(`${migrationId} cannot be read on this machine: payload key ${keyId} is missing`, options);
  }
}

/** Thrown when no worker answers a query. Temporal still keeps decisions until a worker applies them. */
export class NoWorker extends Error {
  override readonly name: string = 'NoWorker';
  constructor(migrationId: string, options?: ErrorOptions, what = 'no worker is answering for') {
    super(`${what} ${migrationId}`, options);
  }
}

/** Thrown when a worker is running but its workflow tasks fail: it lacks a payload key, or runs different code. */
export class WorkflowTaskFailing extends NoWorker {
  override readonly name = 'WorkflowTaskFailing';
  /** @param why the failure of the workflow task; absent if it is unknown */
  constructor(
    migrationId: string,
    options?: ErrorOptions,
    readonly why?: string,
  ) {
    super(migrationId, options, CANNOT_CONTINUE);
    if (why !== undefined) this.message += `: ${why}`;
  }
}

/** Thrown when another workflow keeps occupying an id that Tokenferry needs. The message says how to end it. */
export class WorkflowIdOccupied extends Error {
  override readonly name = 'WorkflowIdOccupied';
}

/** Thrown when a workflow that should have changed the ledger has ended without changing it. */
export class WorkflowHadNoEffect extends Error {
  override readonly name = 'WorkflowHadNoEffect';
}

/** Thrown when the repair of a ledger has not ended in time. A worker carries it out without the caller. */
export class RepairUnfinished extends Error {
  override readonly name = 'RepairUnfinished';
  constructor(readonly migrationId: string) {
    super(
      `the repair of the ledger of ${migrationId} has not ended within 30 minutes; it makes progress only while a worker is running`,
    );
  }
}

/** Thrown when a label would give the new migration the id of a workflow or Schedule that another migration uses. */
export class LabelReserved extends Error {
  override readonly name = 'LabelReserved';
}

/** Returns the failure that explains the others. For example, if Temporal is down, queries to workers fail too. */
export function rootConnectionError(errors: readonly unknown[]): unknown {
  return [...errors].sort((a, b) => rank(a) - rank(b))[0];
}

function rank(error: unknown): number {
  if (isBug(error)) return 0;
  if (error instanceof ServiceError) return 1;
  return error instanceof NoWorker ? 3 : 2;
}

/**
 * Describes in a few words why a migration cannot be read, for a display that keeps refreshing.
 *
 * @throws the error itself if it is a bug in this program
 */
export function connectionErrorText(error: unknown): string {
  if (isBug(error)) throw error;
  if (error instanceof ServiceError) return 'cannot read from Temporal';
  // The text does not say that no worker is running: for some seconds, Temporal sends queries to a worker that has just
  // stopped, even if another worker is running.
  if (error instanceof NoWorker) return error instanceof WorkflowTaskFailing ? CANNOT_CONTINUE : 'no worker answers';
  return isAnswer(error) ? error.message : 'cannot read from the database';
}

const ANSWERS = [NoSuchMigration, WorkflowNotFoundError, NamespaceNotFoundError, PayloadKeyMissing];

/** Returns whether the error's message says what is missing: a migration, a workflow, a namespace or a payload key. */
const isAnswer = (error: unknown): error is Error => ANSWERS.some((errorClass) => error instanceof errorClass);

/** Returns whether an error is a bug in this program, and not a failed connection. */
export const isBug = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;
