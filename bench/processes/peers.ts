/**
 * Starts the peers of Tokenferry: DBOS and Restate, with their programs in bench/peers. Both store each step durably,
 * on the same disk as Tokenferry's ledger.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '../../stack/postgres/postgres';
import { reservePort } from '../../stack/ports';
import { startSupervised, tailOf } from '../../stack/process/supervised-process';
import { startProcessWith, type ChildProgram } from './child-process';
import { startMover, type Mover, type MoverCalls, type MoverSettings } from './mover';
import { RunningParts } from './running-parts';
import { treeCpuMs, type Usage } from './usage';

const FOLDER = path.join(__dirname, '..', '..', '..', 'bench', 'peers');
const SERVER_PACKAGE = `@restatedev/restate-server-${process.platform}-${process.arch}`;
const SERVER = path.join(FOLDER, 'node_modules', SERVER_PACKAGE, 'bin', 'restate-server');

/** Installs the packages of the peers, unless they are up to date. The packages of Tokenferry do not include them. */
export function installPeers(): void {
  const installed = path.join(FOLDER, 'node_modules', '.package-lock.json');
  const lock = path.join(FOLDER, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  // None of the packages needs its install scripts. Standard output is reserved for the results of the benchmark.
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
}

export interface Peer {
  readonly mover: Mover;
  /** CPU time of the other processes that work for the mover, by name, in milliseconds since their start. */
  othersCpuMs(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** @param dataFolder a folder for the data, which must not exist */
export async function startDbos(job: MoverSettings, dataFolder: string): Promise<Peer> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return startPeer(async (parts) => {
    const postgres = parts.add(await startPostgres({ dataFolder, port: 0, ephemeral: false, log }));
    const settings = { ...job, databaseUrl: postgres.url };
    return {
      mover: parts.add(await startMover(path.join(FOLDER, 'dbos.mjs'), settings)),
      othersCpuMs: async () => partOf('postgres', await treeCpuMs(postgres.process)),
    };
  });
}

/** @param dataFolder a folder for the data, which must not exist */
export async function startRestate(job: MoverSettings, dataFolder: string): Promise<Peer> {
  return startPeer(async (parts) => {
    const server = await startRestateServer(dataFolder);
    parts.add(server.process);
    const settings = { ...job, serverUrl: server.adminUrl };
    const handler = await startProcessWith(
      path.join(FOLDER, 'restate-service.mjs'),
      async (program: ChildProgram<Pick<MoverCalls, 'start'> & { readonly usage: () => Promise<Usage> }>) => {
        await program.call('start', settings);
        return program;
      },
    );
    parts.add({ stop: () => handler.end() });
    const client = path.join(FOLDER, 'restate-client.mjs');
    return {
      mover: parts.add(await startMover(client, { ...job, serverUrl: server.ingressUrl })),
      othersCpuMs: async () => ({
        service: (await handler.call('usage')).cpuMs,
        ...partOf('server', await treeCpuMs(server.process)),
      }),
    };
  });
}

/** Starts the parts of a peer. Stops the parts that have started if another part fails to start. */
async function startPeer(start: (parts: RunningParts) => Promise<Omit<Peer, 'stop'>>): Promise<Peer> {
  const parts = new RunningParts();
  try {
    return { ...(await start(parts)), stop: () => parts.stop() };
  } catch (error) {
    // The error of the start explains the failure, also if stopping then fails.
    await parts.stop().catch(() => undefined);
    throw error;
  }
}

const READY_WITHIN_MS = 60_000;

type Port = { readonly port: number };

async function startRestateServer(dataFolder: string) {
  mkdirSync(dataFolder, { recursive: true });
  const reserved = await Promise.all([reservePort(0), reservePort(0), reservePort(0)]);
  return startRestateAt(reserved, dataFolder).finally(() => reserved.forEach(({ release }) => release()));
}

async function startRestateAt([ingress, admin, node]: readonly [Port, Port, Port], dataFolder: string) {
  const logFile = path.join(dataFolder, 'restate.log');
  const server = startSupervised({
    command: SERVER,
    args: ['--node-name', 'peer', '--base-dir', path.join(dataFolder, 'data')],
    env: {
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress.port}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin.port}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node.port}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node.port}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
    logFile,
    stopSignal: 'SIGTERM',
    graceMs: 10_000,
  });
  const urls = { ingressUrl: `http://127.0.0.1:${ingress.port}`, adminUrl: `http://127.0.0.1:${admin.port}` };
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!((await isOk(`${urls.adminUrl}/health`)) && (await isOk(`${urls.ingressUrl}/restate/health`)))) {
    if (server.hasExited() || Date.now() > deadline) {
      await server.stop();
      throw new Error(`Restate's server did not start. Its log ends with:\n${tailOf(logFile)}`);
    }
    await delay(100);
  }
  return { ...urls, process: server };
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/** Returns an empty record if the system does not report the CPU time. */
function partOf(name: string, cpuMs: number | undefined): Readonly<Record<string, number>> {
  return cpuMs === undefined ? {} : { [name]: cpuMs };
}
