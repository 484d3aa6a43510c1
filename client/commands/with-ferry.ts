import { ServiceError } from '@temporalio/client';
import { loadConfig } from '../../config';
import { UnknownPayloadKey, VaultKeyExchanged } from '../../security';
import { DatabaseUnavailable, MigrationExists, OrganizationTaken, VaultClosed } from '../../store';
import { CommandFailed } from '../command-failed';
import type { Ferry, Line, LineConfig } from '../ferry';
import {
  MigrationClosed,
  NoSuchMigration,
  NotReadable,
  NoWorker,
  openFerry,
  openLine,
  Unreachable,
  WorkerFails,
} from '../ferry';

/**
 * Opens a line to the orchestrator for the time of one command that needs the ledger.
 *
 * @throws CommandFailed for whatever a person can do something about
 */
export async function withFerry<Result>(
  env: NodeJS.ProcessEnv,
  work: (ferry: Ferry) => Promise<Result>,
): Promise<Result> {
  const config = lineConfig(env);
  const { databaseUrl } = config;
  if (databaseUrl === undefined) throw new CommandFailed(NEEDS_DATABASE, ASK_SUPPORT);
  return withOpen(() => openFerry({ ...config, databaseUrl }), work);
}

/**
 * The same for a command to which Temporal is enough: a client may have no more than that.
 *
 * @throws CommandFailed for whatever a person can do something about
 */
export async function withLine<Result>(env: NodeJS.ProcessEnv, work: (line: Line) => Promise<Result>): Promise<Result> {
  const config = lineConfig(env);
  return withOpen(() => openLine(config), work);
}

const NEEDS_DATABASE = 'this needs the database, and none is configured (DATABASE_URL)';
const ASK_SUPPORT = 'ask support: they have it; without it you can list, show, watch and decide';

/** For what a command can do in one way or another only with the ledger. */
export function withLedger(line: Line): Ferry {
  const { db } = line;
  if (!db) throw new CommandFailed(NEEDS_DATABASE, ASK_SUPPORT);
  return { ...line, db };
}

function lineConfig(env: NodeJS.ProcessEnv): LineConfig {
  return loadConfig(['temporal', 'payloadKeys'], env, ['databaseUrl', 'signingKey']);
}

async function withOpen<Opened extends Line, Result>(
  open: () => Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  try {
    const opened = await open();
    try {
      return await work(opened);
    } finally {
      await opened.close();
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
  if (error instanceof VaultKeyExchanged)
    return failed('nothing of this file is readable to anybody: it was not sealed');
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
