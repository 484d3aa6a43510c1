import pino, { type Logger } from 'pino';
import { openDatabase, prepareSchema } from './database/database';
import { failureForLog } from './failure-for-log';
import { createApp } from './http/app';
import { forgetOldCounts } from './http/daily-quota';
import { forgetOldAnswers } from './http/idempotency';
import { SandboxPlatforms } from './platform/sandbox/sandbox-platforms';
import { SyncEngine } from './syncs/sync-engine';

const FORGET_EVERY_MS = 10 * 60_000;
/** What is under way when the service is told to end has so long to be answered. */
const CLOSE_WITHIN_MS = 5_000;

export interface ServiceOptions {
  /** A Postgres database. The service keeps to its own schema, `company_data_service`. */
  readonly databaseUrl: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any port that is free. */
  readonly port?: number;
  /** A path in front of every endpoint, as `/v1`. Default: none. */
  readonly basePath?: string;
  /** Where the service is reached from outside, for links. Default: the address it listens at, and the base path. */
  readonly publicUrl?: string;
  /** Default: none. */
  readonly logger?: Logger;
  /** How long the sandbox needs before the first record of a data set, in milliseconds. Default: 150. */
  readonly syncBaseMs?: number;
  /** How long the sandbox needs for each record, in milliseconds. Default: 10. */
  readonly syncMsPerRecord?: number;
  /** For each API key; processes of one database share it. Default: 1,000. */
  readonly requestsPerMinute?: number;
  /** For each API key, account and company with a linked connection; counted in Postgres. Default: no quota. */
  readonly requestsPerDay?: number;
  /** For tests of clients: an administrator can order faults of the service itself. Default: false. */
  readonly faults?: boolean;
  /** Connections to Postgres that requests may hold, in this process. As many again serve syncs and authorizations. Default: 10. */
  readonly databaseConnections?: number;
}

export interface Service {
  /** The base URL, without a slash at the end. */
  readonly url: string;
  /**
   * Answers what is under way, for five seconds at most; finishes what a platform was asked for, heard or not; ends the
   * step of the syncs that is being taken; and lets go of port and database.
   */
  close(): Promise<void>;
}

/**
 * Starts the Company Data Service. Several processes may serve one database.
 *
 * @throws when the database cannot be reached, or the port is taken
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { databaseUrl, host = '127.0.0.1', port = 0, basePath = '', databaseConnections = 10 } = options;
  const { syncBaseMs = 150, syncMsPerRecord = 10, requestsPerMinute = 1_000 } = options;
  const logger = options.logger ?? pino({ enabled: false });
  const db = openDatabase(databaseUrl, databaseConnections);
  const slowDb = openDatabase(databaseUrl, databaseConnections);
  const platforms = new SandboxPlatforms(db, { syncBaseMs, syncMsPerRecord });
  const engine = new SyncEngine({ databaseUrl, db: slowDb, platforms, logger });

  let url = '';
  const publicUrl = () => options.publicUrl ?? url;
  const context = { db, slowDb, platforms, publicUrl };
  const publicPath = options.publicUrl === undefined ? basePath : new URL(options.publicUrl).pathname;
  const { requestsPerDay, faults = false } = options;
  const limits = { requestsPerMinute, ...(requestsPerDay !== undefined && { requestsPerDay }) };
  const app = await createApp({ context, logger, basePath, publicPath, ...limits, faults });
  const forgetting = setInterval(() => {
    Promise.all([forgetOldAnswers(db), forgetOldCounts(db)]).catch((failure: unknown) =>
      logger.warn({ err: failureForLog(failure) }, 'what is old was not forgotten'),
    );
  }, FORGET_EVERY_MS);
  const close = async () => {
    clearInterval(forgetting);
    // Whoever does not read its answer cannot hold up the end.
    const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS);
    try {
      await app.close();
    } finally {
      clearTimeout(cut);
    }
    await engine.stop();
    // In this order: an authorization holds its transaction there, and a token that was used is not lost with its answer.
    await slowDb.destroy();
    await db.destroy();
  };

  try {
    await prepareSchema(db);
    url = (await app.listen({ host, port })) + basePath;
  } catch (failure) {
    await close();
    throw failure;
  }
  engine.start();
  return { url, close };
}
