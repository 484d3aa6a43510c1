/**
 * Runs everything that a migration needs on one machine, for `ferry up` and the demo: Postgres, Temporal with its Web
 * UI, a codec server, the Company Data Service and a worker. For `ferry service start`, `service/` runs only the
 * service.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import {
  loadConfig,
  readRunningStack,
  removeRunningStack,
  stackFile,
  writeRunningStack,
  type Config,
  type ConfigPartName,
  type TemporalConfig,
} from '../config';
import { parseMasterKeys, parsePayloadKeys, Secret } from '../security';
import { postgresUser } from './postgres/binaries';
import { createLog } from '../security/log';
import { startWorker } from '../worker';
import { startServiceOnFreePort } from './service/standalone';
import { reserveStackCodec } from './codec';
import { openStackDatabases } from './postgres/databases';
import {
  ensureAdministratorKey,
  ensureMasterKeyFile,
  ensurePayloadKeyFile,
  ensureServiceKeys,
  ensureVaultSecretsFolder,
} from './secrets';
import { createSecretCipher } from './service/secret-cipher';
import { acquireTemporalCli } from './temporal/cli';
import { startTemporal } from './temporal/server';

/**
 * The configuration of a stack: everything that a process of the orchestrator can need, except a signing key, the
 * service's keys and a worker deployment. It needs no worker deployment, because a stack has only one worker, which is
 * not versioned.
 */
export type StackConfig = Config<Exclude<ConfigPartName, 'signingKey' | 'serviceKeys' | 'workerDeployment'>>;

export interface StackOptions {
  /**
   * Folder of data, keys and logs. While the stack runs, it contains `stack.json`, by which commands find the stack.
   */
  dataFolder: string;
  /** True to remove `dataFolder` at the end, even if this process is killed. */
  ephemeral: boolean;
  /** The first ports to try; 0 for any free port. */
  ports?: { postgres?: number; temporal?: number; temporalUi?: number; codec?: number; service?: number };
  /** An external Postgres (`DATABASE_URL`). Default: an embedded one. */
  databaseUrl?: string | undefined;
  /** An external Temporal (`TEMPORAL_ADDRESS` or a profile). Default: an embedded one. */
  temporal?: TemporalConfig | undefined;
  /** Environment variables, to find the `temporal` command and to configure the webhook. */
  env: NodeJS.ProcessEnv;
  logLevel: StackConfig['logLevel'];
  /** Starts the worker in this process, once everything that it uses is running. */
  startWorker: (config: StackConfig) => Promise<Stoppable>;
  /** Aborts the start and stops what is already running. */
  signal?: AbortSignal;
  log: (line: string) => void;
}

export interface Stack {
  /** Configuration for commands that use this stack. */
  config: StackConfig;
  /** Undefined if Temporal is external. */
  temporalUiUrl: string | undefined;
  /** The codec server, for the Web UI and the `temporal` command. Undefined if Temporal is external. */
  codecUrl: string | undefined;
  /** The documentation page of the service's API. */
  serviceDocsUrl: string;
  /** Stops everything in reverse order. Can be called more than once. */
  stop(): Promise<void>;
}

/** Starts a stack with its worker, whose log is written to the data folder. */
export async function startStackWithWorker(options: Omit<StackOptions, 'startWorker'>): Promise<Stack> {
  const to = workerLog(options.dataFolder);
  return startStack({
    ...options,
    startWorker: (config) => startWorker(config, createLog({ level: config.logLevel, to })),
  });
}

/** Returns the path of the worker's log. */
export function workerLog(dataFolder: string): string {
  return path.join(dataFolder, 'logs', 'worker.log');
}

interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Starts a stack: Postgres and Temporal as supervised processes, the rest in this process. A start that fails or is
 * aborted leaves nothing running.
 *
 * @throws StackAlreadyRunning, PostgresUnavailable, TemporalCliUnavailable, TemporalUnavailable, or an error of the
 * service or the worker
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataFolder, ephemeral } = options;
  await assertNotRunning(dataFolder);
  mkdirSync(dataFolder, { recursive: true, mode: postgresUser() ? 0o711 : 0o700 });

  const running: Stoppable[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopAll(running, ephemeral ? dataFolder : undefined));
  try {
    return { ...(await startParts(options, running)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(options: StackOptions, running: Stoppable[]): Promise<Omit<Stack, 'stop'>> {
  const { dataFolder, ephemeral, env, logLevel, log, ports = {}, signal } = options;

  const cli = options.temporal === undefined ? await acquireTemporalCli({ env, log }) : undefined;
  signal?.throwIfAborted();
  const codec = cli === undefined ? undefined : await reserveStackCodec(ports.codec);
  const servers = { dataFolder, ephemeral, log };
  const [databases, embeddedTemporal] = await startTogether(
    running,
    openStackDatabases({ ...servers, port: ports.postgres, externalUrl: options.databaseUrl }),
    cli === undefined
      ? undefined
      : startTemporal({
          ...servers,
          cli,
          port: ports.temporal,
          uiPort: ports.temporalUi,
          codecUrl: codec?.url,
        }),
  );
  signal?.throwIfAborted();

  const serviceKeys = loadConfig([], env, ['serviceKeys']).serviceKeys ?? ensureServiceKeys(dataFolder);
  const service = await startServiceOnFreePort(
    { databaseUrl: databases.serviceDatabaseUrl, cipher: createSecretCipher(serviceKeys) },
    ports.service,
  );
  running.push({ stop: () => service.close() });
  const apiKey = await ensureAdministratorKey(dataFolder, databases);
  const masterKeyFile = ensureMasterKeyFile(dataFolder);
  const vaultSecretsFolder = ensureVaultSecretsFolder(dataFolder);
  const payloadKeyFile = ensurePayloadKeyFile(dataFolder);
  const temporal = options.temporal ?? embeddedConfig(embeddedTemporal?.address ?? '');
  const config: StackConfig = {
    home: dataFolder,
    logLevel,
    temporal,
    databaseUrl: new Secret(databases.orchestratorDatabaseUrl),
    service: { url: service.url, apiKey: new Secret(apiKey) },
    masterKeys: parseMasterKeys(new Secret(readFileSync(masterKeyFile, 'utf8'))),
    vaultSecrets: vaultSecretsFolder,
    payloadKeys: parsePayloadKeys(new Secret(readFileSync(payloadKeyFile, 'utf8'))),
    webhook: loadConfig(['webhook'], env).webhook,
  };
  if (codec && embeddedTemporal) {
    const { uiUrl } = embeddedTemporal;
    running.push(await codec.start({ payloadKeys: config.payloadKeys, uiUrl, dataFolder }));
  }
  signal?.throwIfAborted();

  running.push(await options.startWorker(config));
  writeRunningStack(dataFolder, {
    pid: process.pid,
    temporal: { address: temporal.address, namespace: temporal.namespace },
    databaseUrl: databases.orchestratorDatabaseUrl,
    service: { url: service.url, apiKey, databaseUrl: databases.serviceDatabaseUrl },
    masterKeyFile,
    vaultSecretsFolder,
    payloadKeyFile,
  });
  running.push({ stop: async () => removeRunningStack(dataFolder, process.pid) });
  return {
    config,
    temporalUiUrl: embeddedTemporal?.uiUrl,
    codecUrl: codec?.url,
    serviceDocsUrl: `${service.url}/docs`,
  };
}

/** Waits for both starts even if one fails, because the part that did start has to be stopped. */
async function startTogether<First extends Stoppable, Second extends Stoppable>(
  running: Stoppable[],
  first: Promise<First>,
  second: Promise<Second> | undefined,
): Promise<[First, Second | undefined]> {
  const results = await Promise.allSettled([first, second]);
  for (const result of results) if (result.status === 'fulfilled' && result.value) running.push(result.value);
  return [await first, await second];
}

function embeddedConfig(address: string): TemporalConfig {
  return { address, namespace: 'default', connectionOptions: { address } };
}

/** Stops all parts in reverse order, one at a time. Continues if a part fails to stop. */
async function stopAll(running: Stoppable[], removeFolder: string | undefined): Promise<void> {
  const failures: unknown[] = [];
  for (const part of running.reverse()) {
    await part.stop().catch((error: unknown) => failures.push(error));
  }
  if (removeFolder !== undefined) rmSync(removeFolder, { recursive: true, force: true });
  if (failures.length > 0)
    throw new AggregateError(failures, `The stack did not stop cleanly: ${failures.map(String).join('; ')}`);
}

/** Thrown when a stack is already running in the folder, because two stacks would write to the same data. */
class StackAlreadyRunning extends Error {
  override readonly name = 'StackAlreadyRunning';
}

/**
 * Throws if a stack is running in the folder. Also tries Temporal's port, because after a crash another process may
 * have been given the process id of the stack.
 *
 * @throws {@link StackAlreadyRunning}
 */
async function assertNotRunning(home: string): Promise<void> {
  const stack = readRunningStack(home);
  if (stack === undefined || !(await acceptsConnections(stack.temporal.address))) return;
  throw new StackAlreadyRunning(
    `A stack is already running: process ${stack.pid} (see ${stackFile(home)}). Use that stack, or stop it first (press Ctrl-C in its terminal).`,
  );
}

function acceptsConnections(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 2_000 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
