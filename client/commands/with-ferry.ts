import { ServiceError } from '@temporalio/client';
import { loadConfig } from '../../config';
import { UnknownPayloadKey } from '../../security';
import { DatabaseUnavailable, MigrationExists, OrganizationTaken, VaultClosed } from '../../store';
import { CommandFailed } from '../command-failed';
import type { Ferry } from '../ferry';
import { MigrationClosed, NoSuchMigration, NotReadable, NoWorker, openFerry, Unreachable, WorkerFails } from '../ferry';

/**
 * Opens a line to the orchestrator for the time of one command.
 *
 * @throws CommandFailed for whatever a person can do something about
 */
export async function withFerry<Result>(
  env: NodeJS.ProcessEnv,
  work: (ferry: Ferry) => Promise<Result>,
): Promise<Result> {
  try {
    const ferry = await openFerry(loadConfig(['temporal', 'databaseUrl', 'payloadKeys'], env, ['signingKey']));
    try {
      return await work(ferry);
    } finally {
      await ferry.close();
    }
  } catch (error) {
    throw explained(error);
  }
}

/** What to do about a payload key that is missing here. */
export const ADD_PAYLOAD_KEY = 'ask whoever runs the workers for it, and add it to TOKENFERRY_PAYLOAD_KEY or its file';

/** A failure of whatever the command needs, with what to do next; any other error as it is. */
export function explained(error: unknown): unknown {
  const failed = (advice: string): CommandFailed =>
    new CommandFailed(error instanceof Error ? error.message : 'failed', advice, { cause: error });
  if (error instanceof Unreachable) return failed('start it, or start everything with: ferry up');
  if (error instanceof DatabaseUnavailable) return failed('look at the database, or start everything with: ferry up');
  if (error instanceof WorkerFails)
    return failed('its log says why: it lacks a payload key, or is of another version than the migration');
  if (error instanceof NoWorker)
    return failed('decisions are kept and applied later; start a worker, or everything with: ferry up');
  if (error instanceof NoSuchMigration) return failed('see them all with: ferry list');
  if (error instanceof MigrationExists) return failed('give this one another --label');
  if (error instanceof MigrationClosed) return failed('see what was decided with: ferry report');
  if (error instanceof OrganizationTaken)
    return failed('an organization is moved by one migration only: take these rows out');
  if (error instanceof VaultClosed)
    return failed('a worker has to run before credentials can be sealed; see: ferry show');
  if (error instanceof NotReadable || error instanceof UnknownPayloadKey) return failed(ADD_PAYLOAD_KEY);
  if (error instanceof ServiceError) return failed('look whether Temporal runs, or start everything with: ferry up');
  return error;
}
