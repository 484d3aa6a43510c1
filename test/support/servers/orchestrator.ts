import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { openLedgerClient, type LedgerClient } from '../../../client';
import { createCompanyDataClient, type CompanyDataClient } from '../../../company-data-client';
import {
  createAccount,
  createKey,
  startService,
  type Service,
  type ServiceOptions,
} from '../../../company-data-service';
import { parseMasterKeys, parsePayloadKeys, Secret } from '../../../security';
import { createTemporaryFolder } from '../../../stack/folders';
import { startWorker, type RunningWorker, type WorkerConfig } from '../../../worker';
import { TIMING, type WorkerTiming } from '../../../worker/timing';
import { useOpened } from '../async';
import { createTestDatabase } from './database';
import { saveHistories } from '../migrations/histories';
import { PAYLOAD_KEY, SERVICE_CIPHER } from './keys';
import { ownNamespace } from '../jest/namespaces';
import { registerApplications } from '../migrations/platforms';
import { sharedTemporal } from './shared-servers';

/**
 * The workflow bundle that the build has written. Bundling again for each test file would take seconds. The bundle is
 * read only once, so that all workers of a file run the same code even if a build runs in parallel.
 */
const WORKFLOWS = {
  workflowBundle: { code: readFileSync(path.join(__dirname, '../../../dist/workflow-bundle.js'), 'utf8') },
};

/**
 * An orchestrator for one test file, with a real service, Postgres and Temporal. Its workers run in this process, and
 * none is running at first.
 */
export interface Orchestrator {
  readonly ferry: LedgerClient;
  readonly service: Service;
  /** The service's database, in which tests create accounts and keys. */
  readonly serviceDatabaseUrl: string;
  readonly config: WorkerConfig;
  /** The environment variables with which commands use this orchestrator. */
  readonly env: NodeJS.ProcessEnv;
  startWorker(changes?: Partial<WorkerConfig>, timing?: Partial<WorkerTiming>): Promise<RunningWorker>;
  /** Returns a client of the service, for reading its data. */
  client(): CompanyDataClient;
}

export interface OpenedOrchestrator extends Orchestrator {
  close(): Promise<void>;
}

/** Opens an orchestrator for the tests of a file. */
export function useOrchestrator(...options: Parameters<typeof startOrchestrator>): Orchestrator {
  return useOpened(() => startOrchestrator(...options));
}

/** Opens an orchestrator for the tests of a file, and starts a worker. */
export function useOrchestratorWithWorker(...options: Parameters<typeof startOrchestrator>): Orchestrator {
  const orchestrator = useOrchestrator(...options);
  beforeAll(async () => {
    await orchestrator.startWorker();
  });
  return orchestrator;
}

/** @param temporalAddress the address of the test's own Temporal server; default: the shared server */
export async function startOrchestrator(
  serviceOptions: Partial<ServiceOptions> = {},
  temporalAddress?: string,
  namespace = ownNamespace(),
): Promise<OpenedOrchestrator> {
  const address = temporalAddress ?? (await sharedTemporal());
  const [serviceDatabase, database] = await Promise.all([createTestDatabase('service'), createTestDatabase('ledger')]);
  const service = await startService({
    requestsPerMinute: 100_000,
    syncBaseMs: 50,
    syncMsPerRecord: 1,
    cipher: SERVICE_CIPHER,
    ...serviceOptions,
    databaseUrl: serviceDatabase.url,
  });
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const masterKey = randomBytes(32).toString('base64');
  const vaultSecrets = createTemporaryFolder();
  const config: WorkerConfig = {
    home: '',
    logLevel: 'warn',
    temporal: { address, namespace, connectionOptions: { address } },
    databaseUrl: new Secret(database.url),
    service: { url: service.url, apiKey: new Secret(key) },
    webhook: {},
    masterKeys: parseMasterKeys(new Secret(masterKey)),
    vaultSecrets,
    payloadKeys: parsePayloadKeys(new Secret(PAYLOAD_KEY)),
  };
  const ferry = await openLedgerClient(config);
  const startedAt = new Date();
  const workers: RunningWorker[] = [];
  const direct = createCompanyDataClient({ baseUrl: service.url, apiKey: config.service.apiKey });
  await registerApplications(direct);
  return {
    ferry,
    service,
    serviceDatabaseUrl: serviceDatabase.url,
    config,
    env: {
      // A folder that does not exist, so that commands do not use the keys of the user who runs the tests. Test files
      // do not share it, because a test can create a key in it.
      TOKENFERRY_HOME: path.join(vaultSecrets, 'no-home'),
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: database.url,
      COMPANY_DATA_URL: service.url,
      COMPANY_DATA_API_KEY: key,
      TOKENFERRY_MASTER_KEY: masterKey,
      TOKENFERRY_VAULT_SECRETS: vaultSecrets,
      TOKENFERRY_PAYLOAD_KEY: PAYLOAD_KEY,
    },
    startWorker: async (changes = {}, timing = {}) => {
      const log = pino({ level: 'error' });
      const worker = await startWorker({ ...config, ...changes }, log, WORKFLOWS, { ...TIMING, ...timing });
      workers.push(worker);
      return worker;
    },
    client: () => direct,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (process.env['TOKENFERRY_KEEP_HISTORIES']) await saveHistories(ferry.temporal, startedAt);
      // Deletes all Schedules and terminates all workflows, because the next file's worker in this namespace has
      // another ledger.
      for await (const { scheduleId } of ferry.temporalWithoutCodec.schedule.list()) {
        await ferry.temporal.schedule
          .getHandle(scheduleId)
          .delete()
          .catch(() => undefined);
      }
      for await (const { workflowId } of ferry.temporalWithoutCodec.workflow.list({
        query: "ExecutionStatus = 'Running'",
      })) {
        await ferry.temporal.workflow
          .getHandle(workflowId)
          .terminate('the test file is over')
          .catch(() => undefined);
      }
      await ferry.close();
      await direct.close();
      await service.close();
      await Promise.all([serviceDatabase.drop(), database.drop()]);
      rmSync(vaultSecrets, { recursive: true });
    },
  };
}
