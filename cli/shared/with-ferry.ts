import { loadConfig } from '../../config';
import { CommandFailed } from './command-failed';
import type { LedgerClient, MigrationClient, MigrationClientConfig } from '../../client';
import { openLedgerClient, openMigrationClient } from '../../client';

/**
 * Opens a line to the orchestrator for the time of one command that needs the ledger.
 *
 * @throws CommandFailed, or what `explained` explains
 */
export async function withLedgerClient<Result>(
  env: NodeJS.ProcessEnv,
  work: (ferry: LedgerClient) => Promise<Result>,
): Promise<Result> {
  const config = lineConfig(env);
  const { databaseUrl } = config;
  if (databaseUrl === undefined) throw new CommandFailed(NEEDS_DATABASE, ASK_SUPPORT);
  return withOpen(() => openLedgerClient({ ...config, databaseUrl }), work);
}

/**
 * The same for a command to which Temporal is enough: a client may have no more than that.
 *
 * @throws CommandFailed, or what `explained` explains
 */
export async function withMigrationClient<Result>(
  env: NodeJS.ProcessEnv,
  work: (line: MigrationClient) => Promise<Result>,
): Promise<Result> {
  const config = lineConfig(env);
  return withOpen(() => openMigrationClient(config), work);
}

const NEEDS_DATABASE = 'this needs the database, and none is configured (DATABASE_URL)';
const ASK_SUPPORT = 'ask support: they have it; without it you can list, show, watch and decide';

/** For what a command can do in one way or another only with the ledger. */
export function assertLedger(line: MigrationClient): LedgerClient {
  const { db } = line;
  if (!db) throw new CommandFailed(NEEDS_DATABASE, ASK_SUPPORT);
  return { ...line, db };
}

function lineConfig(env: NodeJS.ProcessEnv): MigrationClientConfig {
  return loadConfig(['temporal', 'payloadKeys'], env, ['databaseUrl', 'signingKey']);
}

async function withOpen<Opened extends MigrationClient, Result>(
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
