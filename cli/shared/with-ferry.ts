import { loadConfig } from '../../config';
import { CommandFailed } from './command-failed';
import type { Ferry, Line, LineConfig } from '../../client';
import { openFerry, openLine } from '../../client';

/**
 * Opens a line to the orchestrator for the time of one command that needs the ledger.
 *
 * @throws CommandFailed, or what `explained` explains
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
 * @throws CommandFailed, or what `explained` explains
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
  const opened = await open();
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
