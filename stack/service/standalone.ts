import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  createAccount,
  createKey,
  listAccounts,
  startService,
  type Service,
  type ServiceOptions,
} from '../../company-data-service';
import { readRunningStack, type Config } from '../../config';
import type { KeyRing } from '../../security';
import { createLog } from '../../security/log';
import { startPostgres, type RunningPostgres } from '../postgres/postgres';
import { createTemporaryFolder } from '../folders';
import { errorCode, reservePort } from '../ports';
import { ensureServiceKeys } from '../secrets';
import { createSecretCipher } from './secret-cipher';

export interface StandaloneServiceOptions {
  /** Tokenferry's home folder. The embedded database is in its subfolder `service`, unless it is temporary. */
  home: string;
  /**
   * True to start with an empty embedded database and to remove it when the service stops. An external database is not
   * affected.
   */
  temporary: boolean;
  /** True if administrators can make the service itself fail (`/sandbox/faults`). */
  faults: boolean;
  /** An external Postgres (`DATABASE_URL`). Default: an embedded one. */
  databaseUrl?: string | undefined;
  /** Default: the first free port from 8700. */
  port?: number | undefined;
  /** Rate limit of each API key. Default: the service's own default. */
  requestsPerMinute?: number | undefined;
  /**
   * Keys that encrypt tokens and client secrets. Default: those in `service.key` in the home folder; new ones for a
   * temporary embedded database.
   */
  keys?: KeyRing | undefined;
  logLevel: Config['logLevel'];
  log: (line: string) => void;
}

export interface StandaloneService {
  readonly url: string;
  /** API keys of the first account; present only if the database is embedded and had no account. */
  readonly keys?: { readonly administratorKey: string; readonly clientKey: string };
  stop(): Promise<void>;
}

/**
 * Starts the Company Data Service without an orchestrator, for developers of its clients.
 *
 * @throws PostgresUnavailable, or an error of the service
 */
export async function startStandaloneService(options: StandaloneServiceOptions): Promise<StandaloneService> {
  const { home, temporary, faults, port, requestsPerMinute, logLevel, log } = options;
  const dataFolder = temporary ? createTemporaryFolder() : folderIn(home);
  let postgres: RunningPostgres | undefined;
  let service: Service | undefined;
  const stop = async (): Promise<void> => {
    await service?.close();
    await postgres?.stop();
    if (temporary) rmSync(dataFolder, { recursive: true, force: true });
    // With an external database, the address is that of another service.
    else if (postgres) rmSync(addressFile(home), { force: true });
  };
  try {
    if (options.databaseUrl === undefined) postgres = await startPostgres({ dataFolder, ephemeral: temporary, log });
    const databaseUrl = postgres?.url ?? options.databaseUrl ?? '';
    const logger = createLog({ level: logLevel, to: path.join(dataFolder, 'service.log') });
    // `ferry up` uses the same `service.key`, because both can use the same external database.
    const serviceKeys = options.keys ?? ensureServiceKeys(temporary && postgres ? dataFolder : home);
    const cipher = createSecretCipher(serviceKeys);
    const settings = {
      databaseUrl,
      cipher,
      logger,
      faults,
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    };
    service = await (port === undefined ? startServiceOnFreePort(settings) : startService({ ...settings, port }));
    const keys = postgres && (await firstKeys(databaseUrl));
    if (!temporary && postgres) writeFileSync(addressFile(home), databaseUrl, { mode: 0o600 });
    return { url: service.url, ...(keys && { keys }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const DEFAULT_PORT = 8_700;
const PORTS_TO_TRY = 5;

/**
 * Starts the Company Data Service on the first free port.
 *
 * @param firstPort the first port to try; 0 for any free port
 */
export async function startServiceOnFreePort(
  options: Omit<ServiceOptions, 'port'>,
  firstPort: number = DEFAULT_PORT,
): Promise<Service> {
  for (let attempt = 1; ; attempt += 1) {
    const { port, release } = await reservePort(firstPort);
    try {
      return await startService({ ...options, port });
    } catch (error) {
      if (attempt === PORTS_TO_TRY || errorCode(error) !== 'EADDRINUSE') throw error;
    } finally {
      release();
    }
  }
}

/**
 * Returns the URL of the service's database: from the environment, otherwise from the service that is running on this
 * machine. Undefined if there is neither.
 */
export function serviceDatabaseUrl(home: string, fromEnvironment: string | undefined): string | undefined {
  return fromEnvironment ?? readAddress(home) ?? readRunningStack(home)?.service.databaseUrl;
}

async function firstKeys(databaseUrl: string): Promise<StandaloneService['keys']> {
  if ((await listAccounts(databaseUrl)).length > 0) return undefined;
  const accountId = await createAccount(databaseUrl, { name: 'Example', plan: 'paid' });
  const administrator = await createKey(databaseUrl, { accountId, role: 'administrator' });
  const client = await createKey(databaseUrl, { accountId, role: 'client' });
  return { administratorKey: administrator.key, clientKey: client.key };
}

function folderIn(home: string): string {
  return path.join(home, 'service');
}

/** Returns the path of the file that contains the embedded database's URL and password while the service runs. */
function addressFile(home: string): string {
  return path.join(folderIn(home), 'database-url');
}

function readAddress(home: string): string | undefined {
  try {
    return readFileSync(addressFile(home), 'utf8');
  } catch {
    return undefined; // no service is running, or the file belongs to another user
  }
}
