/** Starts everything that a migration needs. Each part runs in its own process, as in production. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openLedgerClient, type LedgerClient } from '../client';
import { createCompanyDataClient } from '../company-data-client';
import { loadConfig } from '../config';
import { startPostgres } from '../stack/postgres/postgres';
import { acquireTemporalCli } from '../stack/temporal/cli';
import { startTemporal } from '../stack/temporal/server';
import { createTemporaryFolder } from '../stack/folders';
import { Secret } from '../security';
import { grantPortalRole } from '../store';
import { TIMING, type WorkerTiming } from '../worker/timing';
import { startBaselineUpdates, type BaselineUpdates } from './processes/baseline-updates';
import { RunningParts } from './processes/running-parts';
import type { ServiceUnderTest } from './processes/service';
import { treeCpuMs } from './processes/usage';
import { startMeasuredPortal, type MeasuredPortal } from './processes/portal';
import { startMeasuredWorker, type MeasuredWorker } from './processes/worker';
import { PLATFORM } from './migration';

export interface BenchEnvironment<Service extends ServiceUnderTest = ServiceUnderTest> {
  readonly ferry: LedgerClient;
  readonly service: Service;
  /**
   * CPU time of Temporal (`engine`) and of the ledger's Postgres since their start, in milliseconds. A figure is absent
   * if the system does not report it.
   */
  readonly serversCpuMs: () => Promise<{ readonly engine?: number; readonly ledger?: number }>;
  /** @param timing default: as in production */
  readonly startWorker: (timing?: WorkerTiming) => Promise<MeasuredWorker>;
  readonly startPortal: () => Promise<MeasuredPortal>;
  readonly startBaselineUpdates: () => Promise<BaselineUpdates>;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves with the result of the work; rejects if a signal interrupts it. */
async function runUnlessInterrupted<T>(work: () => Promise<T>): Promise<T> {
  let interrupt = (): void => undefined;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(new Error('interrupted; unless this was a quick run, earlier results have been saved'));
  });
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/**
 * Creates a temporary folder and runs the work. Then stops the parts that the work has passed to `started`, in reverse
 * order, and removes the folder.
 */
export async function withParts<T>(work: (folder: string, started: RunningParts['add']) => Promise<T>): Promise<T> {
  const folder = createTemporaryFolder();
  const parts = new RunningParts();
  try {
    return await work(folder, (part) => parts.add(part));
  } finally {
    await parts.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Starts an environment, runs the work, then stops and removes everything. Temporal's dev server and the databases wait
 * until their writes are on disk, as in production.
 */
export async function withEnvironment<T, Service extends ServiceUnderTest>(
  startService: () => Promise<Service>,
  work: (bench: BenchEnvironment<Service>) => Promise<T>,
): Promise<T> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return withParts(async (home, started) => {
    const service = started(await startService());
    await registerApplication(service);
    const servers = { ephemeral: false, log, port: 0, uiPort: 0 };
    const cli = await acquireTemporalCli({ env: process.env, log });
    const temporal = started(await startTemporal({ ...servers, dataFolder: path.join(home, 'temporal'), cli }));
    const postgres = started(await startPostgres({ ...servers, dataFolder: path.join(home, 'postgres') }));
    const vaultSecrets = path.join(home, 'vault-secrets');
    mkdirSync(vaultSecrets);
    const variables = {
      TOKENFERRY_HOME: home,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
      DATABASE_URL: postgres.url,
      COMPANY_DATA_URL: service.url,
      COMPANY_DATA_API_KEY: service.key,
      TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
      TOKENFERRY_VAULT_SECRETS: vaultSecrets,
      TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
    };
    const ferry = await openLedgerClient(loadConfig(['temporal', 'databaseUrl', 'payloadKeys'], variables), {
      createLedger: true,
    });
    started({ stop: () => ferry.close() });
    const startWorker: BenchEnvironment['startWorker'] = async (timing = TIMING) =>
      started(await startMeasuredWorker({ variables, timing }));
    const bench = {
      ferry,
      service,
      startWorker,
      serversCpuMs: async () => {
        const [engine, ledger] = [await treeCpuMs(temporal.process), await treeCpuMs(postgres.process)];
        return { ...(engine !== undefined && { engine }), ...(ledger !== undefined && { ledger }) };
      },
      startPortal: async () => {
        const databaseUrl = new URL(postgres.url);
        [databaseUrl.username, databaseUrl.password] = ['portal', randomBytes(16).toString('hex')];
        await grantPortalRole(ferry.db, new Secret(databaseUrl.href));
        return started(await startMeasuredPortal(databaseUrl.href));
      },
      startBaselineUpdates: async () => started(await startBaselineUpdates(ferry, variables)),
    };
    return runUnlessInterrupted(() => work(bench));
  });
}

/** Registers the client's application, as step 1 does. */
async function registerApplication({ url, key }: ServiceUnderTest): Promise<void> {
  const client = createCompanyDataClient({ baseUrl: url, apiKey: new Secret(key) });
  await client.putApplicationCredentials(PLATFORM.key, {
    clientId: 'the-clients-own',
    clientSecret: new Secret('the secret of the application'),
    environment: 'production',
  });
  await client.close();
}
