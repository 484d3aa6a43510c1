/** What does not answer, for whoever goes on all the same and only says so. */
import { ServiceError } from '@temporalio/client';
import { NoWorker } from './ask';
import { NoSuchMigration } from './no-such-migration';

/** The one of several failures that explains the others. */
export function firstConnectionError(errors: readonly unknown[]): unknown {
  return [...errors].sort((a, b) => rank(a) - rank(b))[0];
}

/** Without Temporal no worker can be asked. */
function rank(error: unknown): number {
  if (isMistake(error)) return 0;
  if (error instanceof ServiceError) return 1;
  return error instanceof NoWorker ? 3 : 2;
}

/**
 * In words.
 *
 * @throws what is no trouble of theirs, but a mistake of ours
 */
export function connectionErrorText(error: unknown): string {
  if (isMistake(error)) throw error;
  if (error instanceof ServiceError) return 'Temporal does not answer';
  if (error instanceof NoWorker) return 'no worker answers: decisions are kept, and applied when one does';
  return error instanceof NoSuchMigration ? error.message : 'the database does not answer';
}

const isMistake = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;
