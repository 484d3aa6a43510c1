/**
 * Runs everything that a migration needs on one machine, for `ferry up` and the demo: Postgres, Temporal with its Web
 * UI, a read-only Web UI for clients, a codec server, the Company Data Service, workers and the portal. For `ferry
 * service start`, `service/` runs only the service.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import {
  loadConfig,
  removeRunningStack,
  stackFile,
  writeRunningStack,
  type Config,
  type ConfigPartName,
} from '../config';
import { continueTrace } from '../observability/request-traces';
import { startTracing } from '../observability/tracing';
import { providerFingerprintOfMasterKeys, parseMasterKeys, parsePayloadKeys, Secret } from '../security';
import { postgresUser } from './postgres/binaries';
import { startServiceOnFreePort } from './service/standalone';
import { assertNotRunning } from './already-running';
import { reserveStackCodec } from './codec';
import { reserveStackPortal } from './portal';
import { openStackDatabases } from './postgres/databases';
import { keepPublishedPorts, readPublishedPorts } from './published-ports';
import {
  ensureAdministratorKey,
  ensureMasterKeyFile,
  ensurePayloadKeyFile,
  ensurePortalDatabaseUrl,
  ensureServiceKeys,
  ensureVaultSecretsFolder,
} from './secrets';
import { createSecretCipher } from './service/secret-cipher';
import { acquireTemporalCli } from './temporal/cli';
import { startReadOnlyUi } from './temporal/read-only-ui';
import { startTemporal } from './temporal/server';
import { tailOf, type SupervisedProcess } from './process/supervised-process';
import { startWorkers, type Workers, type WorkersOptions } from './workers';

/**
 * The configuration of a stack: everything that a process of the orchestrator can need, except a signing key, the
 * service's keys, the addresses of the portal and of the codec server, the running stack, the identity provider,
 * health checks, metrics, traces, the worker deployment and the build id. The deployment and the build id are left out
 * because the workers of a stack are not versioned.
 */
export type StackConfig = Config<
  Exclude<
    ConfigPartName,
    | ('signingKey' | 'serviceKeys' | 'workerDeployment' | 'workerBuildId' | 'portalUrl' | 'stackCodecUrl')
    | ('healthAddress' | 'metricsMigrations' | 'tracing' | 'openId' | 'openIdSecret' | 'runningStack')
  >
>;

export interface StackOptions extends WorkersOptions {
  /**
   * Folder of data, keys and logs. While the stack runs, it contains `stack.json`, with which commands find the stack.
   */
  dataFolder: string;
  /** True to remove `dataFolder` when the stack stops, even if this process is killed. */
  ephemeral: boolean;
  /**
   * The first ports to try; 0 for any free port. For the portal, the clients' Temporal UI and the service, the port of
   * the data folder's previous stack is tried first instead, because people have links that contain it: see
   * published-ports.ts.
   */
  ports?: {
    postgres?: number;
    temporal?: number;
    temporalUi?: number;
    clientUi?: number;
    codec?: number;
    service?: number;
    portal?: number;
  };
  /**
   * Creates the portal's database role in the ledger's database, and resolves with false if it cannot. Default: no
   * portal.
   */
  allowPortal?: (databases: Pick<StackConfig, 'databaseUrl' | 'portalDatabaseUrl'>) => Promise<boolean>;
  /** An external Postgres (`DATABASE_URL`). Default: an embedded one. */
  databaseUrl?: string | undefined;
  /** True if administrators can make the service itself fail (`/sandbox/faults`). Default: false. */
  faults?: boolean;
  /**
   * Environment variables. They locate the `temporal` command, can contain the service's keys, and configure the
   * webhook, traces, the portal, and the workers' health checks and metrics.
   */
  env: NodeJS.ProcessEnv;
  /** Aborts the start and stops the parts that are already running. */
  signal?: AbortSignal;
  log: (line: string) => void;
  /** Called when a part has ended and is restarted, and when a page to which people have links gets another port. */
  warn: (text: string) => void;
}

export interface Stack {
  /** Configuration for commands that use this stack. */
  config: StackConfig;
  temporalUiUrl: string;
  /** The codec server, for the Web UI and the `temporal` command. */
  codecUrl: string;
  /** The documentation page of the service's API. */
  serviceDocsUrl: string;
  /** The portal for clients; undefined if it is not running. */
  portalUrl: string | undefined;
  /** Resolves with the reason if a part has ended and is not restarted. The other parts are still running. */
  failed: Promise<string>;
  /** Stops everything, the workers first. Can be called more than once. */
  stop(): Promise<void>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Starts a stack: Postgres, Temporal, the workers and the portal as supervised processes, the rest in this process. A
 * start that fails or is aborted leaves nothing running. After the start, a process that ends is restarted.
 *
 * @throws StackAlreadyRunning, PostgresUnavailable, TemporalCliUnavailable, TemporalUnavailable, WorkerUnavailable,
 * PortalUnavailable, an error of the service, or the reason of `signal`
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataFolder, ephemeral } = options;
  await assertNotRunning(dataFolder);
  mkdirSync(dataFolder, { recursive: true, mode: postgresUser() ? 0o711 : 0o700 });
  rmSync(stackFile(dataFolder), { force: true }); // left behind by a stack that was killed

  const workers = startWorkers(options);
  const running: Stoppable[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= stopAll(
      [...running, workers, { stop: async () => removeRunningStack(dataFolder, process.pid) }],
      ephemeral ? dataFolder : undefined,
    ));
  try {
    return { ...(await startParts(options, workers, running)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(options: StackOptions, workers: Workers, running: Stoppable[]): Promise<Omit<Stack, 'stop'>> {
  const { dataFolder, ephemeral, env, logLevel, log, warn, ports = {}, faults = false, signal } = options;

  const published = readPublishedPorts(dataFolder);
  const cli = await acquireTemporalCli({ env, log });
  signal?.throwIfAborted();
  const codec = await reserveStackCodec(ports.codec);
  running.push(codec);
  const servers = { dataFolder, ephemeral, log };
  log(options.databaseUrl === undefined ? 'Starting Postgres and Temporal...' : 'Starting Temporal...');
  const [databases, temporal] = await startTogether(
    running,
    openStackDatabases({ ...servers, port: ports.postgres, externalUrl: options.databaseUrl }),
    startTemporal({ ...servers, cli, port: ports.temporal, uiPort: ports.temporalUi, codecUrl: codec.url }),
  );
  signal?.throwIfAborted();

  const namespace = 'default';
  const clientUi = await startReadOnlyUi({
    uiUrl: temporal.uiUrl,
    namespace,
    port: published.clientUi ?? ports.clientUi,
  });
  running.push(clientUi);
  log('Starting the Company Data Service...');
  const { serviceKeys = ensureServiceKeys(dataFolder), tracing } = loadConfig([], env, ['serviceKeys', 'tracing']);
  if (tracing) startTracing({ name: 'tokenferry-service' });
  const service = await startServiceOnFreePort(
    { databaseUrl: databases.serviceDatabaseUrl, cipher: createSecretCipher(serviceKeys), continueTrace, faults },
    published.service ?? ports.service,
  );
  running.push({ stop: () => service.close() });
  const apiKey = await ensureAdministratorKey(dataFolder, {
    serviceDatabaseUrl: databases.serviceDatabaseUrl,
    embedded: databases.process !== undefined,
  });
  const masterKeyFile = ensureMasterKeyFile(dataFolder);
  const vaultSecretsFolder = ensureVaultSecretsFolder(dataFolder);
  const payloadKeyFile = ensurePayloadKeyFile(dataFolder);
  const masterKeys = parseMasterKeys(new Secret(readFileSync(masterKeyFile, 'utf8')));
  const providerFingerprint = providerFingerprintOfMasterKeys(masterKeys);
  const portalDatabaseUrl = ensurePortalDatabaseUrl(dataFolder, databases.orchestratorDatabaseUrl);
  const { address } = temporal;
  const config: StackConfig = {
    home: dataFolder,
    logLevel,
    temporal: { address, namespace, connectionOptions: { address } },
    databaseUrl: new Secret(databases.orchestratorDatabaseUrl),
    portalDatabaseUrl: new Secret(portalDatabaseUrl),
    service: { url: service.url, apiKey: new Secret(apiKey) },
    masterKeys,
    providerFingerprint,
    vaultSecrets: vaultSecretsFolder,
    payloadKeys: parsePayloadKeys(new Secret(readFileSync(payloadKeyFile, 'utf8'))),
    webhook: loadConfig(['webhook'], env).webhook,
    clientUi: { url: clientUi.url, hasMigrationLinks: true },
  };
  signal?.throwIfAborted();
  const portal = (await options.allowPortal?.(config))
    ? await reserveStackPortal(published.portal ?? ports.portal)
    : undefined;
  if (portal) running.push(portal);
  signal?.throwIfAborted();

  const urls = { clientUi: clientUi.url, portal: portal?.url, service: service.url };
  for (const moved of keepPublishedPorts(dataFolder, urls)) warn(moved);
  writeRunningStack(dataFolder, {
    pid: process.pid,
    temporal: { address, namespace },
    clientUiUrl: clientUi.url,
    codecUrl: codec.url,
    databaseUrl: databases.orchestratorDatabaseUrl,
    isDatabaseExternal: options.databaseUrl !== undefined,
    portalDatabaseUrl,
    portalUrl: portal?.url,
    service: { url: service.url, apiKey, databaseUrl: databases.serviceDatabaseUrl },
    masterKeyFile,
    vaultSecretsFolder,
    payloadKeyFile,
    providerFingerprint,
  });
  const uiUrls = [temporal.uiUrl, clientUi.url];
  running.push(await codec.start({ payloadKeys: config.payloadKeys, uiUrls, dataFolder }));
  log('Starting the workers...');
  await workers.waitUntilReady();
  if (portal) log('Starting the portal...');
  const portalProcess = await portal?.start({ dataFolder, ephemeral, env, logLevel, databaseUrl: portalDatabaseUrl });
  if (portalProcess) running.push(portalProcess);
  return {
    config,
    temporalUiUrl: temporal.uiUrl,
    codecUrl: codec.url,
    portalUrl: portal?.url,
    serviceDocsUrl: `${service.url}/docs`,
    failed: keepRunning(
      [
        ...(databases.process ? [['Postgres', databases.process] as const] : []),
        ['Temporal', temporal.process],
        ...(portalProcess ? [['The portal', portalProcess] as const] : []),
        ...workers.processes.map((worker, index) => [`Worker ${index + 1}`, worker] as const),
      ],
      warn,
    ),
  };
}

/** Restarts each part that ends. Resolves with the reason if a part has ended too often, or before this call. */
function keepRunning(
  parts: readonly (readonly [name: string, process: SupervisedProcess])[],
  warn: (text: string) => void,
): Promise<string> {
  return new Promise((resolve) => {
    for (const [name, process] of parts) {
      process.keepRunning(({ reason, isRestarted }) => {
        const consequence = isRestarted ? 'and is being restarted' : 'and is not restarted';
        // A process that was killed by a signal could not log the reason.
        const log = reason.startsWith('signal ')
          ? `Its log: ${process.logFile}`
          : `Its log, ${process.logFile}, ends with: ${tailOf(process.logFile, 1)}`;
        const text = `${name} has ended (${reason}) ${consequence}. ${log}`;
        (isRestarted ? warn : resolve)(text);
      });
    }
  });
}

/** Waits for both starts even if one fails, because the part that did start has to be stopped. */
async function startTogether<First extends Stoppable, Second extends Stoppable>(
  running: Stoppable[],
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  const results = await Promise.allSettled([first, second]);
  for (const result of results) if (result.status === 'fulfilled') running.push(result.value);
  return [await first, await second];
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
