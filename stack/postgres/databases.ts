import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import { databaseOf, failureText } from '../../company-data-service';
import type { SupervisedProcess } from '../process/supervised-process';
import { startPostgres, type PostgresOptions } from './postgres';
import { PostgresUnavailable } from './binaries';

/**
 * The names of the two databases. Service and orchestrator each have their own, because in production they are separate
 * systems. For the exception, see {@link openStackDatabases}.
 */
const NAMES = { service: 'company_data_service', orchestrator: 'tokenferry' };

export interface StackDatabases {
  serviceDatabaseUrl: string;
  orchestratorDatabaseUrl: string;
  /** The embedded Postgres; undefined if Postgres is external. */
  process: SupervisedProcess | undefined;
  stop(): Promise<void>;
}

/**
 * Opens the two databases of a stack. In an external Postgres, an ephemeral stack creates two databases and drops them
 * when it stops. In an external Postgres, a permanent stack uses only the database in `DATABASE_URL`, because commands
 * expect the ledger there; service and orchestrator then have one schema each.
 *
 * @throws {@link PostgresUnavailable}
 */
export async function openStackDatabases(
  options: PostgresOptions & { externalUrl?: string | undefined },
): Promise<StackDatabases> {
  const { externalUrl, ephemeral } = options;
  const postgres = externalUrl === undefined ? await startPostgres(options) : undefined;
  const url = postgres?.url ?? externalUrl ?? '';
  const shared = externalUrl !== undefined && !ephemeral;
  const suffix = externalUrl === undefined ? '' : `_${randomBytes(4).toString('hex')}`;
  const names = { service: NAMES.service + suffix, orchestrator: NAMES.orchestrator + suffix };
  try {
    await createDatabases(url, shared ? [] : Object.values(names));
  } catch (error) {
    await postgres?.stop();
    const reason = failureText(error);
    const message = postgres ? embeddedText(options, reason) : externalText(url, reason);
    throw new PostgresUnavailable(message, { cause: error });
  }
  return {
    serviceDatabaseUrl: shared ? url : withDatabase(url, names.service),
    orchestratorDatabaseUrl: shared ? url : withDatabase(url, names.orchestrator),
    process: postgres?.process,
    stop: async () => {
      if (externalUrl !== undefined && ephemeral) await dropDatabases(url, Object.values(names));
      await postgres?.stop();
    },
  };
}

/** Names the log only for a permanent stack, because an ephemeral stack deletes its folder when it stops. */
function embeddedText({ dataFolder, ephemeral }: PostgresOptions, reason: string): string {
  const advice = ephemeral
    ? 'Set DATABASE_URL to use another Postgres.'
    : `See its log, ${path.join(dataFolder, 'postgres.log')}, or set DATABASE_URL to use another Postgres.`;
  return `The embedded Postgres in ${dataFolder} cannot be used: ${reason}. ${advice}`;
}

function externalText(url: string, reason: string): string {
  return `Postgres at ${databaseOf(url)} (DATABASE_URL) cannot be used: ${reason}. Start this Postgres, correct DATABASE_URL, or unset DATABASE_URL to use an embedded Postgres.`;
}

async function createDatabases(url: string, names: readonly string[]): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const existing = new Set(rows.map(({ datname }) => datname));
    for (const name of names) {
      if (!existing.has(name)) await client.query(`create database ${escapeIdentifier(name)}`);
    }
  });
}

async function dropDatabases(url: string, names: readonly string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const name of names) await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
  });
}

/** Connects to a database, does the work, and disconnects. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined); // ignored, because the query in flight fails with the same error
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
