/** During an outage, a batch run that is still importing does not check its companies again and again. */
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { CheckReport, ServiceUnavailable, SliceReport } from '../../../activities/companies/batch';
import { counts } from '../../support/migrations/migration-states';
import { ownNamespace } from '../../support/jest/namespaces';
import { sharedTemporal } from '../../support/servers/shared-servers';
import { installRuntime } from '../../../worker/runtime';

/** The number of probes that find the service down. With the delays before probes, the outage takes about 10 s. */
const PROBES = 2;
/** The maximum number of checks: one that begins before the run knows of the outage, and others at growing delays. */
const MOST_CHECKS = 10;

const OUTAGE: ServiceUnavailable = { why: 'GET /account: answered 503', source: 'service', afterMs: 0 };
const END = { stop: null, stopNumbers: null, outage: null, ramp: null };

/** Returns activities of a run with one syncing company, whose slices report an outage until the probes succeed. */
function activitiesInOutage() {
  let probes = 0;
  let checks = 0;
  const isOver = (): boolean => probes > PROBES;
  return {
    checks: () => checks,
    activities: {
      beginRun: async () => ({ slicesAtOnce: 1, counts: counts({ total: 2, waiting: 1, syncing: 1 }) }),
      countCompanies: async () => counts({ total: 2, waiting: 1, syncing: 1 }),
      probeService: async (): Promise<ServiceUnavailable | null> => {
        probes += 1;
        return isOver() ? null : OUTAGE;
      },
      importSlice: async (): Promise<Partial<SliceReport> & { ledgerMark: number }> => ({
        ...{ ...END, claimed: 0, ledgerMark: 0, slicesAtOnce: 1, nextReclaimInMs: null },
        ...(isOver()
          ? { nextClaimInMs: null }
          : { nextClaimInMs: 1_000, outage: { why: OUTAGE.why, source: 'service', gotThrough: 0 } as const }),
      }),
      // Ends at once instead of waiting for half a minute while companies are being imported.
      verifySlice: async ({ whileImporting }: { readonly whileImporting: boolean }): Promise<CheckReport> => {
        checks += 1;
        return {
          ...{ ...END, finished: 0, isTimeUp: whileImporting, paused: false, outsideWindow: false, claimable: false },
          ...{ syncing: isOver() ? 0 : 1, nextCheckInMs: isOver() ? null : 1_000 },
        };
      },
    },
  };
}

test('a run that waits for the end of an outage checks its companies only at growing intervals', async () => {
  const logger = new DefaultLogger('ERROR');
  installRuntime(pino({ level: 'error' }));
  const address = await sharedTemporal();
  const namespace = ownNamespace();
  const taskQueue = 'outage-checks';
  const { checks, activities } = activitiesInOutage();
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, '../changed-workflows/batch-parent.ts'),
    logger,
  });
  const [connection, native] = [await Connection.connect({ address }), await NativeConnection.connect({ address })];
  const worker = await Worker.create({ connection: native, namespace, taskQueue, activities, workflowBundle });
  const migrationId = 'outage-checks.xero';
  const batch = { migrationId, runNumber: 1, window: null, finishing: false, ledgerMark: 0 };
  const { workflow } = new Client({ connection, namespace });
  await worker.runUntil(workflow.execute('batchParent', { workflowId: migrationId, taskQueue, args: [batch] }));
  expect(checks()).toBeGreaterThan(1);
  expect(checks()).toBeLessThanOrEqual(MOST_CHECKS);
  await native.close();
  await connection.close();
});
