/** Measures the repeated requests and the recovery time after one of two workers has been killed during a batch. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerClient } from '../../client';
import type { Benchmark, Report } from '../figures';
import { moveBatch, prepareBatch, type PreparedBatch } from '../migration';
import { startMeasuredService, UNLIMITED, type MeasuredService } from '../processes/service';
import { SHORT_TIMING } from '../processes/worker';
import { countCompanies } from '../../store';
import { TIMING, type WorkerTiming } from '../../worker/timing';
import { withEnvironment, type BenchEnvironment } from '../environment';

/** The heartbeat timeout of slices, as in `workflows/activity-proxies.ts`. */
const HEARTBEAT_TIMEOUT_S = 15;
const POLL_MS = 200;

export const recover: Benchmark = {
  description: 'recovery from killing one of two workers during a batch',
  measure: async ({ quick, report }) => {
    const [companies, timing] = quick ? [200, SHORT_TIMING] : [2_000, TIMING];
    const settings = { requestsPerMinute: UNLIMITED };
    return withEnvironment(
      () => startMeasuredService(settings),
      async (bench) => {
        const undisturbed = await countRequests(bench, { companies, timing }, report, async () => undefined);
        let recoveredMs = 0;
        const disturbed = await countRequests(bench, { companies, timing }, report, async (batch, kill) => {
          recoveredMs = await killDuringBatch(bench.ferry, batch, kill);
        });
        return [
          {
            name: 'recover.requests',
            value: disturbed / undisturbed - 1,
            unit: 'share of repeated requests',
            goal: ['<=', 0.02],
            note: `${companies} companies: ${disturbed} requests with a kill and ${undisturbed} without one; status polls are not counted`,
          },
          {
            name: 'recover',
            value: recoveredMs / 1_000,
            unit: 's until every company in progress has continued',
            goal: ['<=', HEARTBEAT_TIMEOUT_S + 5],
          },
        ];
      },
    );
  },
};

/** Moves companies with two workers and returns the number of requests, not counting status polls. */
async function countRequests(
  { ferry, service, startWorker }: BenchEnvironment<MeasuredService>,
  { companies, timing }: { readonly companies: number; readonly timing: WorkerTiming },
  report: Report,
  disturb: (batch: PreparedBatch, kill: () => Promise<void>) => Promise<void>,
): Promise<number> {
  const [one, other] = [await startWorker(timing), await startWorker(timing)];
  const batch = await prepareBatch(ferry, companies);
  const before = await service.answers();
  await Promise.all([
    moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies')),
    disturb(batch, () => one.kill()),
  ]);
  const after = await service.answers();
  await Promise.all([one.stop(), other.stop()]);
  return after.requests - after.statusPolls - (before.requests - before.statusPolls);
}

/**
 * Kills a worker during the batch.
 *
 * @returns milliseconds until every company that was in progress at that moment has progressed
 */
async function killDuringBatch(
  ferry: LedgerClient,
  { id, companies }: PreparedBatch,
  kill: () => Promise<void>,
): Promise<number> {
  // Kill the worker when half of the companies have been claimed. At that moment, some companies are being imported and
  // others verified.
  while ((await countCompanies(ferry.db, id)).waiting > companies / 2) await delay(POLL_MS);
  await kill();
  const killedAt = performance.now();
  const before = await companiesInProgress(ferry, id);
  const unchanged = new Set([...before.keys()]);
  while (unchanged.size > 0) {
    await delay(POLL_MS);
    const now = await companiesInProgress(ferry, id);
    for (const row of unchanged) if (now.get(row) !== before.get(row)) unchanged.delete(row);
  }
  return performance.now() - killedAt;
}

/** Returns the rows in progress, each with its state and its number of tries and checks. */
async function companiesInProgress({ db }: LedgerClient, id: string): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('companies')
    .select(['row', 'state', 'tries', 'checks'])
    .where('migration_id', '=', id)
    .where('state', 'in', ['importing', 'syncing'])
    .execute();
  return new Map(rows.map(({ row, state, tries, checks }) => [row, `${state} ${tries} ${checks}`]));
}
