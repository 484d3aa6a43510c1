import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { LedgerClient } from '../../client';
import { openLedgerClient } from '../../client';
import { createCompanyDataClient, type CompanyDataClient } from '../../company-data-client';
import type { Service, ServiceOptions } from '../../company-data-service';
import { createAccount, createKey, startService } from '../../company-data-service';
import { parseMasterKeys, parsePayloadKeys, Secret } from '../../security';
import type { RunningWorker, WorkerConfig } from '../../worker';
import { startWorker } from '../../worker';
import type { WorkerTiming } from '../../worker/timing';
import { TIMING } from '../../worker/timing';
import { registerApplications } from './applications';
import { createTestDatabase } from './database';
import { keepHistories } from './histories';
import { ownNamespace } from './namespaces';
import { sharedTemporal } from './servers';

/**
 * Made by the build, which the run's set-up brings up to date: bundling anew for each file would take seconds. Read once:
 * every worker of a file runs the same code, also when somebody builds meanwhile.
 */
const WORKFLOWS = {
  workflowBundle: { code: readFileSync(path.join(__dirname, '../../dist/workflow-bundle.js'), 'utf8') },
};

/** One for all: files share their namespace, and what they leave in it is listed beside what is theirs. */
export const PAYLOAD_KEY = Buffer.alloc(32, 7).toString('base64');

/** A whole orchestrator for one test file: real service, real Postgres, real Temporal, and a worker in this process. */
export interface Orchestrator {
  readonly ferry: LedgerClient;
  readonly service: Service;
  /** Where accounts and keys of the service are made. */
  readonly serviceDatabaseUrl: string;
  readonly config: WorkerConfig;
  /** For commands: the variables that lead to this orchestrator. */
  readonly env: NodeJS.ProcessEnv;
  startWorker(some?: Partial<WorkerConfig>, timing?: Partial<WorkerTiming>): Promise<RunningWorker>;
  /** Straight to the service, to see what is there. */
  client(): CompanyDataClient;
  close(): Promise<void>;
}

/** @param temporalAddress of a Temporal server of the test's own; otherwise the one that all share */
export async function startOrchestrator(
  serviceOptions: Partial<ServiceOptions> = {},
  temporalAddress?: string,
): Promise<Orchestrator> {
  const address = temporalAddress ?? (await sharedTemporal());
  const [serviceDatabase, database] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const service = await startService({
    requestsPerMinute: 100_000,
    syncBaseMs: 50,
    syncMsPerRecord: 1,
    ...serviceOptions,
    databaseUrl: serviceDatabase.url,
  });
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const namespace = ownNamespace();
  const masterKey = randomBytes(32).toString('base64');
  const config: WorkerConfig = {
    home: '',
    logLevel: 'warn',
    temporal: { address, namespace, connectionOptions: { address } },
    databaseUrl: new Secret(database.url),
    service: { url: service.url, apiKey: new Secret(key) },
    webhook: {},
    masterKeys: parseMasterKeys(new Secret(masterKey)),
    payloadKeys: parsePayloadKeys(new Secret(PAYLOAD_KEY)),
  };
  const ferry = await openLedgerClient(config);
  const begunAt = new Date();
  const workers: RunningWorker[] = [];
  const direct = createCompanyDataClient({ baseUrl: service.url, apiKey: config.service.apiKey });
  await registerApplications(direct);
  return {
    ferry,
    service,
    serviceDatabaseUrl: serviceDatabase.url,
    config,
    env: {
      // Nobody's own keys.
      TOKENFERRY_HOME: path.join(tmpdir(), 'tokenferry-nobodys-home'),
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      DATABASE_URL: database.url,
      COMPANY_DATA_URL: service.url,
      COMPANY_DATA_API_KEY: key,
      TOKENFERRY_MASTER_KEY: masterKey,
      TOKENFERRY_PAYLOAD_KEY: PAYLOAD_KEY,
    },
    startWorker: async (some = {}, timing = {}) => {
      const log = pino({ level: 'error' });
      const worker = await startWorker({ ...config, ...some }, log, WORKFLOWS, { ...TIMING, ...timing });
      workers.push(worker);
      return worker;
    },
    client: () => direct,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (process.env['TOKENFERRY_KEEP_HISTORIES']) await keepHistories(ferry.temporal, begunAt);
      // The next file's worker in this namespace has another ledger.
      for await (const { scheduleId } of ferry.withoutPayloads.schedule.list()) {
        await ferry.temporal.schedule
          .getHandle(scheduleId)
          .delete()
          .catch(() => undefined);
      }
      for await (const { workflowId } of ferry.withoutPayloads.workflow.list({
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
    },
  };
}
