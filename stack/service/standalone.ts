import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAccount, createKey, listAccounts, startService, type Service } from '../../company-data-service';
import { readRunningStack, type Config } from '../../config';
import { createLog } from '../../security/log';
import { startPostgres } from '../postgres/postgres';
import { startServiceOnFreePort } from './free-port';
import { createTemporaryFolder } from '../temporary-folder';

export interface ServiceAloneOptions {
  /** The folder of what must survive: the embedded database lies in it. */
  home: string;
  /** An embedded database that begins empty and is removed at the end. */
  temporary: boolean;
  /** An administrator can order faults of the service itself. */
  faults: boolean;
  /** A Postgres to use instead of an embedded one: `DATABASE_URL`. */
  databaseUrl?: string | undefined;
  /** Default: 8700, or the next port that is free. */
  port?: number | undefined;
  /** For each API key. Default: as the service has it. */
  requestsPerMinute?: number | undefined;
  logLevel: Config['logLevel'];
  log: (line: string) => void;
}

export interface ServiceAlone {
  readonly url: string;
  /** Keys of a first account: only where the database is embedded and was empty. */
  readonly keys?: { readonly administratorKey: string; readonly clientKey: string };
  stop(): Promise<void>;
}

/**
 * Starts the Company Data Service without an orchestrator: for whoever writes a client of it.
 *
 * @throws PostgresUnavailable, or what the service says
 */
export async function startServiceAlone(options: ServiceAloneOptions): Promise<ServiceAlone> {
  const { home, temporary, faults, port, requestsPerMinute, logLevel, log } = options;
  const dataFolder = temporary ? createTemporaryFolder() : folderIn(home);
  const postgres =
    options.databaseUrl === undefined ? await startPostgres({ dataFolder, ephemeral: temporary, log }) : undefined;
  const databaseUrl = postgres?.url ?? options.databaseUrl ?? '';
  const logger = createLog({ level: logLevel, to: path.join(dataFolder, 'service.log') });
  let service: Service | undefined;
  const stop = async (): Promise<void> => {
    await service?.close();
    await postgres?.stop();
    rmSync(temporary ? dataFolder : addressFile(home), { recursive: true, force: true });
  };
  try {
    const settings = { databaseUrl, logger, faults, ...(requestsPerMinute !== undefined && { requestsPerMinute }) };
    service = await (port === undefined ? startServiceOnFreePort(settings) : startService({ ...settings, port }));
    const keys = postgres && (await firstKeys(databaseUrl));
    if (!temporary && postgres) writeFileSync(addressFile(home), databaseUrl, { mode: 0o600 });
    return { url: service.url, ...(keys && { keys }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where the keys of the service that runs here are kept; nothing where none runs. */
export function serviceDatabaseUrl(home: string, fromEnvironment: string | undefined): string | undefined {
  return fromEnvironment ?? readAddress(home) ?? readRunningStack(home)?.service.databaseUrl;
}

async function firstKeys(databaseUrl: string): Promise<ServiceAlone['keys']> {
  if ((await listAccounts(databaseUrl)).length > 0) return undefined;
  const accountId = await createAccount(databaseUrl, { name: 'Example', plan: 'paid' });
  const administrator = await createKey(databaseUrl, { accountId, role: 'administrator' });
  const client = await createKey(databaseUrl, { accountId, role: 'client' });
  return { administratorKey: administrator.key, clientKey: client.key };
}

function folderIn(home: string): string {
  return path.join(home, 'service');
}

/** Holds the embedded database's address, with its password, while a service runs alone. */
function addressFile(home: string): string {
  return path.join(folderIn(home), 'database-url');
}

function readAddress(home: string): string | undefined {
  try {
    return readFileSync(addressFile(home), 'utf8');
  } catch {
    return undefined; // none runs, or not ours to read
  }
}
