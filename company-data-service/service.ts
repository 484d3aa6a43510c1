import pino, { type Logger } from 'pino';
import { deleteOldExchanges } from './connections/token-exchanges';
import { openDatabase, prepareSchema, failureForLog } from './database/database';
import { createApp } from './http/app';
import type { ContinueTrace } from './http/trace-hooks';
import { deleteOldCounts } from './http/limits/daily-quota';
import { deleteOldAnswers } from './http/idempotency';
import { SandboxPlatforms } from './platform/sandbox/sandbox-platforms';
import { encryptStoredSecrets } from './credentials/encrypt-stored-secrets';
import type { SecretCipher } from './credentials/secret-cipher';
import { SyncEngine } from './syncs/sync-engine';

const CLEANUP_INTERVAL_MS = 10 * 60_000;
/** Time for requests in flight to finish when the service closes. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface ServiceOptions {
  /** A Postgres database. The service uses only its own schema, `company_data_service`. */
  readonly databaseUrl: string;
  /** Encrypts tokens and client secrets. Every process of one database needs the same keys. */
  readonly cipher: SecretCipher;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** A path before every endpoint, such as `/v1`. Default: none. */
  readonly basePath?: string;
  /**
   * The public URL of the service, for links, with or without a trailing slash. Default: the address on which the
   * service listens, with the base path.
   */
  readonly publicUrl?: string;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
  /**
   * Milliseconds that the sandbox takes for each push, and for each data set in addition to the time per record.
   * Default: 150.
   */
  readonly syncBaseMs?: number;
  /** Milliseconds that the sandbox takes per record. Default: 10. */
  readonly syncMsPerRecord?: number;
  /** Rate limit of each API key, shared by all processes of one database. Default: 1,000. */
  readonly requestsPerMinute?: number;
  /**
   * Daily quota of each API key: this number of requests for the account, plus the same number for each company with a
   * linked connection. Default: no quota.
   */
  readonly requestsPerDay?: number;
  /** True lets administrators make the service itself fail, for tests of programs that call it. Default: false. */
  readonly faults?: boolean;
  /**
   * Size of the connection pool for requests; a second pool of this size serves syncs, pushes and authorizations.
   * Default: 10.
   */
  readonly databaseConnections?: number;
  /** Continues the traces of the programs that call the service. Default: they are not continued. */
  readonly continueTrace?: ContinueTrace;
}

export interface Service {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  /**
   * Waits up to five seconds for requests in flight. Then finishes the current step of the sync engine and the
   * authorizations in progress, even if their callers have disconnected, and closes the connections to the database.
   */
  close(): Promise<void>;
}

/**
 * Starts the Company Data Service. Several processes can serve one database.
 *
 * @throws if the database is unreachable, its schema cannot be updated, it contains a secret encrypted under a key that
 * `cipher` does not have, or the service cannot listen on the host and port
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { databaseUrl, cipher, host = '127.0.0.1', port = 0, basePath = '', databaseConnections = 10 } = options;
  const { syncBaseMs = 150, syncMsPerRecord = 10, requestsPerMinute = 1_000 } = options;
  const logger = options.logger ?? pino({ enabled: false });
  const db = openDatabase(databaseUrl, databaseConnections);
  const waitingDb = openDatabase(databaseUrl, databaseConnections);
  const platforms = new SandboxPlatforms(db, { syncBaseMs, syncMsPerRecord });
  const engine = new SyncEngine({ databaseUrl, db: waitingDb, platforms, cipher, logger });

  let url = '';
  const configuredUrl = options.publicUrl?.replace(/\/+$/, '');
  const publicUrl = () => configuredUrl ?? url;
  const context = { db, waitingDb, platforms, cipher, publicUrl };
  const publicPath = configuredUrl === undefined ? basePath : new URL(configuredUrl).pathname;
  const { requestsPerDay, faults = false, continueTrace } = options;
  const limits = { requestsPerMinute, ...(requestsPerDay !== undefined && { requestsPerDay }) };
  const traces = continueTrace && { continueTrace };
  const app = await createApp({ context, logger, basePath, publicPath, ...limits, faults, ...traces });
  const cleanup = setInterval(() => {
    Promise.all([deleteOldAnswers(db), deleteOldCounts(db), deleteOldExchanges(db)]).catch((failure: unknown) =>
      logger.warn({ err: failureForLog(failure) }, 'expired rows could not be deleted'),
    );
  }, CLEANUP_INTERVAL_MS);
  const close = async () => {
    clearInterval(cleanup);
    // A caller that does not read its response must not delay the shutdown.
    const cutOff = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
    try {
      await app.close();
    } finally {
      clearTimeout(cutOff);
    }
    await engine.stop();
    // Close this pool first. Closing it waits until each authorization in progress has committed its transaction, which
    // stores the new tokens. Until then, an authorization also needs `db`.
    await waitingDb.destroy();
    await db.destroy();
  };

  try {
    await prepareSchema(db);
    await encryptStoredSecrets(db, cipher);
    url = (await app.listen({ host, port })) + basePath;
  } catch (failure) {
    await close();
    throw failure;
  }
  engine.start();
  return { url, close };
}
