import { setTimeout as delay } from 'node:timers/promises';
import type { Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities, type Activities } from '../../../activities';
import type { CheckReport, SliceReport } from '../../../activities/companies/batch';
import type { ActivityDeps } from '../../../activities/deps';
import {
  createCompanyDataClient,
  type CompanyDataClient,
  type CompanyDataClientOptions,
} from '../../../company-data-client';
import { createAccount, createKey, startService, type Service } from '../../../company-data-service';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { withNames, type Preflight } from '../../../domain/migration/preflight-result';
import { findPlatform, isRotating } from '../../../platforms/platforms';
import { Secret } from '../../../security';
import { changeLimits, readPreflightTexts, type SuppliedCredential } from '../../../store';
import { forgetIdempotencyKeys } from '../servers/backup';
import { createTestDatabase } from '../servers/database';
import { startHttpProxy, type HttpProxy } from '../faults/http-proxy';
import {
  createMovableMigration,
  msFromNow,
  openLedger,
  manifestRows,
  type Ledger,
  type MovableMigration,
} from './ledger';
import { useOpened } from '../async';
import { SERVICE_CIPHER } from '../servers/keys';

const LEASE_MS = 60_000;
const RUN = 'run-1';

/** Returns an environment that runs an activity as Temporal does, scheduled now. Logs errors only. */
export const activityEnvironment = (info: Partial<Info> = {}): MockActivityEnvironment =>
  new MockActivityEnvironment({ scheduledTimestampMs: Date.now(), ...info }, { logger: new DefaultLogger('ERROR') });

/** A ledger, the activities of a worker, and the real service behind a proxy. */
export interface ImportRig {
  readonly ledger: Ledger;
  readonly service: Service;
  readonly proxy: HttpProxy;
  /** An HTTP client that bypasses the proxy, for reading the service's data. */
  readonly directClient: CompanyDataClient;
  /** Creates an HTTP client of the service at this address. */
  client(baseUrl: string, changes?: Partial<CompanyDataClientOptions>): CompanyDataClient;
  /** Creates the activities of a new worker. */
  worker(changes?: Partial<ActivityDeps>): Activities;
  /** Runs activities as Temporal does. */
  runActivity<T>(
    work: (activities: Activities) => Promise<T>,
    environment?: MockActivityEnvironment,
    activities?: Activities,
  ): Promise<T>;
  /** Creates a migration whose companies can be claimed: one company per sandbox token. */
  migration(tokens: readonly string[], options?: MigrationOptions): Promise<MovableMigration>;
  importSlice(id: string, options?: SliceOptions): Promise<SliceReport>;
  /**
   * Runs the preflight. `result` is what the workflow keeps, without names; `inFull` has the names and texts from the
   * ledger.
   */
  preflight(id: string): Promise<{ readonly result: Preflight; readonly inFull: Preflight }>;
  /** Runs one check of every company whose check is due. */
  checkDue(id: string, syncTimeoutMs: number): Promise<CheckReport>;
  /** Checks companies until none is syncing or the run stops. */
  verify(id: string, syncTimeoutMs?: number): Promise<CheckReport>;
  /** Makes the current attempt die after the service has handled a call, but before the response arrives. */
  dieAfter(id: string, method: string, path: RegExp): void;
  /** Makes the service forget its idempotency keys, as it does after 90 minutes. */
  forgetIdempotencyKeys(): Promise<void>;
  /** Ends the leases of a migration's companies immediately. */
  expireLeases(id: string): Promise<void>;
  close(): Promise<void>;
}

interface MigrationOptions {
  readonly platformKey?: string;
  readonly row?: (row: number) => Partial<ManifestRow>;
}

interface SliceOptions {
  readonly worker?: Activities;
  readonly atOnce?: number;
  readonly environment?: MockActivityEnvironment;
}

/** Opens a rig for the tests of a file. Resets its proxy before each test, so that requests are forwarded unchanged. */
export function useImportRig(): Omit<ImportRig, 'close'> {
  const rig = useOpened(openImportRig);
  beforeEach(() => rig.proxy.reset());
  return rig;
}

async function openImportRig(): Promise<ImportRig> {
  const serviceDatabase = await createTestDatabase('service');
  const ledger = await openLedger();
  const { db, keys } = ledger;
  const service = await startService({
    databaseUrl: serviceDatabase.url,
    cipher: SERVICE_CIPHER,
    requestsPerMinute: 100_000,
    syncBaseMs: 20,
    syncMsPerRecord: 0,
  });
  const accountId = await createAccount(serviceDatabase.url, { name: 'Provider', plan: 'paid' });
  const { key } = await createKey(serviceDatabase.url, { accountId, role: 'administrator' });
  const proxy = await startHttpProxy(service.url);
  const clients: CompanyDataClient[] = [];
  const client: ImportRig['client'] = (baseUrl, changes = {}) => {
    const created = createCompanyDataClient({
      baseUrl,
      apiKey: new Secret(key),
      requestTimeoutMs: 4_000,
      authorizationTimeoutMs: 3_000,
      retryBudgetMs: 300,
      firstRetryWaitMs: 10,
      ...changes,
    });
    clients.push(created);
    return created;
  };

  const worker: ImportRig['worker'] = (changes = {}) =>
    createActivities({
      db,
      keys,
      service: client(proxy.url),
      notices: { post: async () => undefined },
      schedules: { update: async () => 'none', refresh: async () => undefined },
      workflowStatus: { statusOf: async () => 'running', scheduled: async () => [] },
      workflowRecords: {
        stateAndMarkOf: async () => ({ workflow: 'gone', ledgerMark: 0 }),
        decisionsOf: async () => [],
      },
      sendWithinMs: 30_000,
      leaseMs: LEASE_MS,
      sliceTimeLimitMs: 60_000,
      ...changes,
    });

  const runActivity = <T>(
    work: (activities: Activities) => Promise<T>,
    environment = activityEnvironment(),
    activities = worker(),
  ): Promise<T> => environment.run<[], T, () => Promise<T>>(() => work(activities));

  const checkDue: ImportRig['checkDue'] = (migrationId, syncTimeoutMs) =>
    changeLimits(db, migrationId, { syncTimeoutMs }).then(() =>
      runActivity((activities) => activities.verifySlice({ migrationId })),
    );

  return {
    ledger,
    service,
    proxy,
    directClient: client(service.url),
    client,
    worker,
    runActivity,
    migration: (tokens, { platformKey = 'qhyg', row = () => ({}) } = {}) => {
      const platform = findPlatform(platformKey);
      if (!platform) throw new Error(`there is no platform ${platformKey}`);
      const credential = ({ row: number, reference, organization }: ManifestRow): SuppliedCredential => {
        const fields = Object.fromEntries(platform.requiredFields.map((field) => [field, `${field}-${number}`]));
        const token = `${tokens[number - 1]}.${organization}`;
        const own = { refreshToken: token, [platform.organizationField]: organization };
        return { reference, fields: new Secret({ ...fields, ...own }), obtainedAt: new Date().toISOString() };
      };
      const rotating = isRotating(platform);
      return createMovableMigration(ledger, manifestRows(tokens.length, row), { platformKey, rotating }, credential);
    },
    importSlice: async (migrationId, { atOnce = 4, environment, worker: by } = {}) => {
      await changeLimits(db, migrationId, { companiesPerSliceAtOnce: atOnce });
      return runActivity(
        (activities) => activities.importSlice({ migrationId, run: RUN, slice: 1, ledgerMark: 0 }),
        environment,
        by,
      );
    },
    preflight: async (migrationId) => {
      const result = await runActivity((activities) => activities.preflight({ migrationId, startAt: null }));
      const texts = await readPreflightTexts(db, migrationId);
      return { result, inFull: texts ? withNames(result, texts) : result };
    },
    checkDue,
    verify: async (id, syncTimeoutMs = 60_000) => {
      let finished = 0;
      for (;;) {
        const report = await checkDue(id, syncTimeoutMs);
        finished += report.finished;
        if (report.nextCheckInMs === null || report.stop !== null) return { ...report, finished };
        await delay(report.nextCheckInMs);
      }
    },
    dieAfter: (id, method, path) => {
      proxy.on(method, path, [
        async (response, _request, pass) => {
          await pass();
          await db.updateTable('companies').set({ attempt: 'died' }).where('migration_id', '=', id).execute();
          response.destroy();
        },
      ]);
    },
    forgetIdempotencyKeys: () => forgetIdempotencyKeys(serviceDatabase.url),
    expireLeases: async (id) => {
      const expired = { lease_ends_at: msFromNow(-1) };
      await db.updateTable('companies').set(expired).where('migration_id', '=', id).execute();
    },
    close: async () => {
      await Promise.all(clients.map((each) => each.close()));
      await proxy.close();
      await service.close();
      await ledger.close();
      await serviceDatabase.drop();
    },
  };
}

/** Lists the companies that the service has for a row, with the status of their connections. */
export async function statusAtService(client: CompanyDataClient, id: string, row: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const company of client.companies({ tags: { ferryRow: `${id}/${row}` } })) {
    const connections: string[] = [];
    for await (const { status } of client.connections(company.id)) connections.push(status);
    found.push(`company with ${connections.join(', ') || 'no connection'}`);
  }
  return found;
}
