/** A run ends as soon as one of its slices stops it, although another slice waits for a company that is due later. */
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { CheckReport, SliceReport } from '../../../activities/companies/batch';
import { counts } from '../../support/migrations/migration-states';
import { ownNamespace } from '../../support/jest/namespaces';
import { until } from '../../support/async';
import { sharedTemporal } from '../../support/servers/shared-servers';
import { installRuntime } from '../../../worker/runtime';

const END = { stop: null, stopNumbers: null, outage: null, ramp: null };
/** Time until the next company and the next check are due, in milliseconds. Longer than the time limit of the test. */
const LATER_MS = 600_000;

test.each(['an import', 'a verification'])('%s that stops the run wakes the other slices', async (stopping) => {
  const logger = new DefaultLogger('ERROR');
  installRuntime(pino({ level: 'error' }));
  const address = await sharedTemporal();
  const namespace = ownNamespace();
  const taskQueue = `stopping ${stopping}`;
  const migrationId = `stopping-${stopping === 'an import' ? 'import' : 'check'}.xero`;
  const [connection, native] = [await Connection.connect({ address }), await NativeConnection.connect({ address })];
  const { workflow } = new Client({ connection, namespace });
  const run = workflow.getHandle(`${migrationId}.batch`);
  /** Waits until as many timers of the run have started. */
  const untilSleeping = (timers: number) =>
    until(async () => {
      const { events } = await run.fetchHistory();
      return (events ?? []).filter(({ timerStartedEventAttributes: each }) => each != null).length >= timers;
    });
  const stop = { stop: 'too-many-failures', stopNumbers: '3 of 4' } as const;
  const activities = {
    beginRun: async () => ({ slicesAtOnce: 2, counts: counts({ total: 3, waiting: 2, syncing: 1 }) }),
    countCompanies: async () => counts({ total: 3, waiting: 2, syncing: 1 }),
    importSlice: async ({ slice }: { readonly slice: number }): Promise<Partial<SliceReport>> => {
      const waits = { ...END, ledgerMark: 0, slicesAtOnce: 2, nextClaimInMs: LATER_MS, nextReclaimInMs: null };
      if (slice === 2 || stopping !== 'an import') return { ...waits, claimed: 0 };
      // The other slice and the verification sleep when this slice ends.
      await untilSleeping(2);
      return { ...waits, ...stop, claimed: 1 };
    },
    verifySlice: async (): Promise<CheckReport> => {
      const nothing = { finished: 0, syncing: 1, nextCheckInMs: LATER_MS, outsideWindow: false, claimable: true };
      const report = { ...END, ...nothing, isTimeUp: false, paused: false };
      if (stopping === 'an import') return report;
      await untilSleeping(2);
      return { ...report, ...stop };
    },
  };
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, '../changed-workflows/batch-parent.ts'),
    logger,
  });
  const worker = await Worker.create({ connection: native, namespace, taskQueue, activities, workflowBundle });
  const batch = { migrationId, runNumber: 1, window: null, finishing: false, ledgerMark: 0 };
  await worker.runUntil(async () => {
    const parent = await workflow.start('batchParent', { workflowId: migrationId, taskQueue, args: [batch] });
    await until(async () => (await parent.describe()).status.name === 'COMPLETED', 30_000);
    expect(await run.result()).toEqual({ stop: 'too-many-failures', stopNumbers: '3 of 4' });
  });
  await native.close();
  await connection.close();
});
