/** A run that finishes the companies of a paused migration ends as soon as the migration is resumed. */
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
/**
 * Time until the lease of the interrupted company ends, and until the next check of the other company, in milliseconds.
 * Longer than the time limit of the test.
 */
const LEASE_MS = 600_000;

test('a resume ends the run at once, although the lease of an interrupted company has not ended', async () => {
  const logger = new DefaultLogger('ERROR');
  installRuntime(pino({ level: 'error' }));
  const address = await sharedTemporal();
  const namespace = ownNamespace();
  const taskQueue = 'finishing';
  const migrationId = 'finishing.xero';
  const [connection, native] = [await Connection.connect({ address }), await NativeConnection.connect({ address })];
  const { workflow } = new Client({ connection, namespace });
  const run = workflow.getHandle(`${migrationId}.batch`);
  /**
   * Returns whether the run has read the result of the latest check, and waits for the next one.
   *
   * @param isIdle true if no slice may be in flight either
   */
  const waitsAfterCheck = async (isIdle = false): Promise<boolean> => {
    const { events } = await run.fetchHistory();
    const all = events ?? [];
    const scheduled = all.filter(({ activityTaskScheduledEventAttributes: each }) => each != null).length;
    const completed = all.filter(({ activityTaskCompletedEventAttributes: each }) => each != null).length;
    if (isIdle && scheduled !== completed) return false;
    const checks = all.findLastIndex(({ activityTaskCompletedEventAttributes: each }) => each != null);
    return all.findLastIndex(({ timerStartedEventAttributes: each }) => each != null) > checks;
  };
  let resumed = false;
  let slicesAfterResume = 0;
  let isChecked = false;
  const activities = {
    beginRun: async () => ({ slicesAtOnce: 1, counts: counts({ total: 3, waiting: 1, importing: 1, syncing: 1 }) }),
    countCompanies: async () => counts({ total: 3, waiting: 1, importing: 1, syncing: 1 }),
    importSlice: async (): Promise<Partial<SliceReport> & { ledgerMark: number }> => {
      if (resumed) slicesAfterResume += 1;
      // The run learns from a check that the migration has been resumed, while its second slice is in flight.
      if (slicesAfterResume > 1) await until(async () => isChecked && (await waitsAfterCheck()));
      return {
        ...{ ...END, claimed: 0, ledgerMark: 0, slicesAtOnce: 1 },
        ...{ nextClaimInMs: null, nextReclaimInMs: LEASE_MS },
      };
    },
    verifySlice: async (): Promise<CheckReport> => {
      const paused = !resumed;
      if (resumed) await until(() => slicesAfterResume > 1);
      isChecked = resumed;
      const nothing = { finished: 0, syncing: 1, nextCheckInMs: LEASE_MS, outsideWindow: false, claimable: false };
      return { ...END, ...nothing, isTimeUp: false, paused };
    },
  };
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, '../changed-workflows/batch-parent.ts'),
    logger,
  });
  const worker = await Worker.create({ connection: native, namespace, taskQueue, activities, workflowBundle });
  const batch = { migrationId, runNumber: 1, window: null, finishing: true, ledgerMark: 0 };
  await worker.runUntil(async () => {
    const ended = workflow.execute('batchParent', { workflowId: migrationId, taskQueue, args: [batch] });
    // A slice in flight would not count as one after the resume, and the wake would begin no other.
    await until(() => waitsAfterCheck(true).catch(() => false));
    resumed = true;
    await run.signal('wake');
    await ended;
  });
  await native.close();
  await connection.close();
});
