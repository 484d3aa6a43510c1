import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import {
  loadConfig,
  removeRunningStack,
  writeRunningStack,
  type Config,
  type Part,
  type TemporalConfig,
} from '../config';
import { parseMasterKeys, parsePayloadKeys, Secret } from '../security';
import { postgresUser } from './postgres/binaries';
import { assertNotRunning } from './running-already';
import { startServiceOnFreePort } from './service/free-port';
import { reserveStackCodec } from './codec';
import { openStackDatabases } from './postgres/databases';
import { administratorKeyIn, masterKeyFileIn, payloadKeyFileIn } from './secrets';
import { acquireTemporalCli } from './temporal/cli';
import { startTemporal } from './temporal/server';

/** What every process of the orchestrator may ask for: a stack has it all. */
export type StackConfig = Config<Exclude<Part, 'signingKey'>>;

export interface StackOptions {
  /** Where data, keys and logs are kept, and `stack.json` while the stack runs: the home of the commands that use it. */
  dataFolder: string;
  /** A run whose data nobody needs afterwards: `dataFolder` is removed at the end, even when this process is killed. */
  ephemeral: boolean;
  /** The ports to try first; the next free ones are used. `0`: any. */
  ports?: { postgres?: number; temporal?: number; temporalUi?: number; codec?: number; service?: number };
  /** A Postgres to use instead of an embedded one: `DATABASE_URL`. */
  databaseUrl?: string | undefined;
  /** A Temporal to use instead of an embedded one: what `TEMPORAL_ADDRESS` or a profile names. */
  temporal?: TemporalConfig | undefined;
  /** Where the `temporal` command is looked for. */
  env: NodeJS.ProcessEnv;
  logLevel: StackConfig['logLevel'];
  /** Starts the worker in this process, once everything that it uses is there. */
  startWorker: (config: StackConfig) => Promise<Stoppable>;
  /** Aborting ends the start: what runs already is stopped. */
  signal?: AbortSignal;
  log: (line: string) => void;
}

export interface Stack {
  /** For the commands that work with this stack. */
  config: StackConfig;
  /** Not known where Temporal was there before. */
  temporalUiUrl: string | undefined;
  /** Decodes payloads, for the Web UI and the `temporal` command. Not there where Temporal was there before. */
  codecUrl: string | undefined;
  /** The page that describes the service's API. */
  serviceDocsUrl: string;
  /** Stops everything, the last that was started first. May be called more than once. */
  stop(): Promise<void>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Starts everything that a migration needs, in this process and its leashed servers: Postgres, Temporal with its UI,
 * the Company Data Service, and a worker. A start that fails, or is aborted, leaves nothing behind.
 *
 * @throws StackRunsAlready, PostgresUnavailable, TemporalCliUnavailable, TemporalUnavailable, or what service or worker say
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
  const [databases, embeddedTemporal] = await bothStarted(
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

  const service = await startServiceOnFreePort({ databaseUrl: databases.serviceUrl }, ports.service);
  running.push({ stop: () => service.close() });
  const apiKey = await administratorKeyIn(dataFolder, databases);
  const masterKeyFile = masterKeyFileIn(dataFolder);
  const payloadKeyFile = payloadKeyFileIn(dataFolder);
  const temporal = options.temporal ?? embeddedConfig(embeddedTemporal?.address ?? '');
  const config: StackConfig = {
    home: dataFolder,
    logLevel,
    temporal,
    databaseUrl: new Secret(databases.orchestratorUrl),
    service: { url: service.url, apiKey: new Secret(apiKey) },
    masterKeys: parseMasterKeys(new Secret(readFileSync(masterKeyFile, 'utf8'))),
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
    databaseUrl: databases.orchestratorUrl,
    service: { url: service.url, apiKey, databaseUrl: databases.serviceUrl },
    masterKeyFile,
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

/** Waits for both, even when one fails: then the other one is among what has to be stopped. */
async function bothStarted<First extends Stoppable, Second extends Stoppable>(
  running: Stoppable[],
  first: Promise<First>,
  second: Promise<Second> | undefined,
): Promise<[First, Second | undefined]> {
  const settled = await Promise.allSettled([first, second]);
  for (const start of settled) if (start.status === 'fulfilled' && start.value) running.push(start.value);
  return [await first, await second];
}

function embeddedConfig(address: string): TemporalConfig {
  return { address, namespace: 'default', connectionOptions: { address } };
}

/** Stops the parts one after the other, and every one of them, even when one fails to stop. */
async function stopAll(running: Stoppable[], removeFolder: string | undefined): Promise<void> {
  const failures: unknown[] = [];
  for (const part of running.reverse()) {
    await part.stop().catch((error: unknown) => failures.push(error));
  }
  if (removeFolder !== undefined) rmSync(removeFolder, { recursive: true, force: true });
  if (failures.length > 0) throw new AggregateError(failures, 'The stack has not stopped cleanly.');
}
