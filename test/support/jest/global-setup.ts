/** Prepares a run of jest, in its main process: the build, the `temporal` command, and the shared servers. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createTemporaryFolder } from '../../../stack/folders';
import { startPostgres } from '../../../stack/postgres/postgres';
import { acquireTemporalCli } from '../../../stack/temporal/cli';
import { startTemporal } from '../../../stack/temporal/server';
import { testNamespaces, type JestRun } from './namespaces';
import { openDatabase } from '../../../store';
import { withDatabase } from '../../../company-data-service/database/database';
import { execute } from '../servers/database';
import { SERVERS_URL, TEMPORAL_CLI, temporalCli, type Schema, type SharedServer } from '../servers/shared-servers';

interface RunningServer {
  /** The URL or address that tests connect to. */
  readonly address: string;
  readonly stop: () => Promise<void>;
}

interface SharedServers {
  /** Returns the address of the Temporal server; undefined if no test has asked for it. */
  temporalAddress(): Promise<string | undefined>;
  stop(): Promise<void>;
}

let shared: SharedServers | undefined;

/**
 * Builds, finds the `temporal` command, and starts to answer requests for servers. global-teardown.ts stops the
 * servers.
 */
export default async function globalSetup({ maxWorkers }: JestRun): Promise<void> {
  // This variable is set if `npm test` has prepared the build and the command. Otherwise jest was started directly.
  if (process.env[TEMPORAL_CLI] === undefined) {
    // Builds the workflow bundle, and the compiled programs that tests run as processes.
    execFileSync(process.execPath, [path.join(__dirname, '../../../scripts/build.mjs')], { stdio: 'inherit' });
    process.env[TEMPORAL_CLI] = await acquireTemporalCli({ env: process.env, log: console.log });
  }
  await offerServers(testNamespaces(maxWorkers));
}

/** Starts answering the tests' requests for servers. Each server starts when the first test needs it. */
async function offerServers(namespaces: readonly string[]): Promise<void> {
  /** Creates a database with a schema. */
  const createSchema = async (name: Schema, create: (url: string) => Promise<void>): Promise<RunningServer> => {
    const server = new URL((await get('postgres')).address);
    await execute(server.href, `create database ${name}`);
    server.pathname = `/${name}`;
    await create(server.href);
    return { address: name, stop: async () => undefined };
  };
  const starts: Readonly<Record<SharedServer, () => Promise<RunningServer>>> = {
    ledger: () => createSchema('ledger', async (url) => (await openDatabase({ url, createLedger: true })).destroy()),
    service: () => createSchema('service', (url) => withDatabase(url, async () => undefined)),
    postgres: async () => {
      const dataFolder = createTemporaryFolder();
      const server = await startPostgres({ dataFolder, port: 0, ephemeral: true, log: console.log });
      return { address: server.url, stop: () => server.stop() };
    },
    temporal: async () => {
      const dataFolder = createTemporaryFolder();
      const options = { cli: temporalCli(), dataFolder, port: 0, uiPort: 0, ephemeral: true, namespaces };
      const server = await startTemporal(options);
      return { address: server.address, stop: () => server.stop() };
    },
  };
  const started = new Map<SharedServer, Promise<RunningServer>>();
  const get = (name: SharedServer): Promise<RunningServer> => {
    const server = started.get(name) ?? starts[name]();
    started.set(name, server);
    return server;
  };
  const answering = await answer(async (name) => {
    if (!(name in starts)) throw new Error(`there is no shared server ${name}`);
    return (await get(name as SharedServer)).address;
  });
  shared = {
    temporalAddress: async () => (await started.get('temporal'))?.address,
    stop: async () => {
      answering.close();
      answering.closeAllConnections();
      for (const server of await Promise.allSettled(started.values())) {
        if (server.status === 'fulfilled') await server.value.stop();
      }
    },
  };
  process.env[SERVERS_URL] = `http://127.0.0.1:${(answering.address() as AddressInfo).port}/`;
}

/** Returns the servers that this process offers. global-teardown.ts calls it. */
export function offeredServers(): SharedServers | undefined {
  return shared;
}

async function answer(addressOf: (name: string) => Promise<string>): Promise<Server> {
  const server = createServer((request, response) => {
    // Closes the connection, because a connection that is kept alive could be closed at the moment when a test sends
    // its next request.
    response.setHeader('connection', 'close');
    addressOf(request.url?.slice(1) ?? '').then(
      (address) => response.end(address),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
