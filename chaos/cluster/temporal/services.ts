/** Temporal's server as four processes, each of which runs one service, with their data in Postgres. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { setUpNamespace } from '../../../client';
import { acceptsConnections, reservePort } from '../../../stack/ports';
import { createClusterProcess, startTogether, FIRST_PORTS } from '../cluster-process';
import { TEMPORAL_SERVICES, type Database, type ClusterProcess, type TemporalService } from '../types';
import type { TemporalBinaries } from './binaries';
import { DATABASE_NAMES, writeConfiguration, type ServicePorts } from './configuration';

export const NAMESPACE = 'default';
const RETENTION_MS = 24 * 3_600_000;

export interface TemporalServices {
  /** Host and port of the frontend. */
  readonly address: string;
  readonly processes: Readonly<Record<TemporalService, ClusterProcess>>;
  /** Releases the ports. The processes must have been killed before. */
  readonly release: () => void;
}

/**
 * Creates the databases, starts the four services, and creates the namespace `default` with the search attributes.
 *
 * @throws {ProcessNotStarted}
 */
export async function startTemporalServices(options: TemporalOptions): Promise<TemporalServices> {
  const reserved: { release: () => void }[] = [];
  const release = (): void => reserved.forEach((port) => port.release());
  const reserve = async (): Promise<number> => {
    const port = await reservePort(FIRST_PORTS.temporal);
    reserved.push(port);
    return port.port;
  };
  try {
    return { ...(await startServices(options, reserve)), release };
  } catch (error) {
    release();
    throw error;
  }
}

interface TemporalOptions {
  readonly binaries: TemporalBinaries;
  readonly database: Pick<Database, 'url'>;
  readonly folder: string;
  readonly logs: string;
}

async function startServices(
  { binaries, database, folder, logs }: TemporalOptions,
  reserve: () => Promise<number>,
): Promise<Omit<TemporalServices, 'release'>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ports = {} as Record<TemporalService, ServicePorts>;
  for (const name of TEMPORAL_SERVICES) ports[name] = { grpc: await reserve(), membership: await reserve() };
  const configuration = writeConfiguration({ folder, postgresUrl: database.url, ports });
  await createSchemas(binaries, database.url);

  const address = `127.0.0.1:${ports.frontend.grpc}`;
  const create = (name: TemporalService): ClusterProcess =>
    createClusterProcess({
      name: `temporal-${name}`,
      program: () => ({
        command: binaries.server,
        args: [...['--root', configuration, '--config', '.', '--env', 'cluster'], ...startArguments(name)],
        // Omits the developer's TEMPORAL_* variables, because they are meant for another server.
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
        logFile: path.join(logs, `temporal-${name}.log`),
      }),
      isReady: () => (name === 'frontend' ? answers(address) : acceptsConnections(ports[name].membership)),
    });
  const processes = Object.fromEntries(
    TEMPORAL_SERVICES.map((name) => [name, create(name)]),
  ) as TemporalServices['processes'];
  try {
    // The first service writes the cluster's metadata, and two services must not write it at the same time.
    await processes.history.start();
    await startTogether(Object.values(processes));
    await setUpNamespace({ temporal: { address, namespace: NAMESPACE, connectionOptions: { address } } }, RETENTION_MS);
    return { address, processes };
  } catch (error) {
    for (const each of Object.values(processes)) await each.kill();
    throw error;
  }
}

const startArguments = (name: TemporalService): string[] => ['--allow-no-auth', 'start', '--service', name];

/** Creates Temporal's two databases with their schemas. */
async function createSchemas({ sqlTool }: TemporalBinaries, postgresUrl: string): Promise<void> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const server = ['--plugin', 'postgres12', '--endpoint', hostname, '--port', port, '--user', username];
  for (const [schema, database] of [
    ['temporal', DATABASE_NAMES.default],
    ['visibility', DATABASE_NAMES.visibility],
  ] as const) {
    const steps = [
      ['create-database', '--defaultdb', 'postgres'],
      ['setup-schema', '--version', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ];
    for (const step of steps) {
      const env = { PATH: process.env['PATH'], SQL_PASSWORD: password };
      await promisify(execFile)(sqlTool, [...server, '--database', database, ...step], { env });
    }
  }
}

/** Returns whether the frontend answers. */
async function answers(address: string): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false; // the frontend is not ready yet
  } finally {
    await connection.close();
  }
}
