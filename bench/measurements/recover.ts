/** What is lost when one of two workers is killed in the middle of a batch. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerClient } from '../../client';
import type { Benchmark, Report } from '../figures';
import type { ReadyBatch } from '../migration';
import { moveBatch, readyBatch } from '../migration';
import { UNLIMITED } from '../processes/service';
import { HASTY } from '../processes/worker';
import { countCompanies } from '../../store';
import type { WorkerTiming } from '../../worker/timing';
import { TIMING } from '../../worker/timing';
import type { Workbench } from '../workbench';
import { onWorkbench } from '../workbench';

/** Of slices: see `workflows/activity-proxies.ts`. */
const HEARTBEAT_TIMEOUT_S = 15;
const LOOK_EVERY_MS = 200;

export const recover: Benchmark = {
  about: 'one of two workers killed in the middle of a batch',
  measure: async ({ quick, report }) => {
    const [companies, timing] = quick ? [200, HASTY] : [2_000, TIMING];
    const settings = { requestsPerMinute: UNLIMITED, syncBaseMs: 20, syncMsPerRecord: 1 };
    return onWorkbench(settings, async (bench) => {
      const undisturbed = await moveCounted(bench, { companies, timing }, report, async () => undefined);
      let recoveredMs = 0;
      const disturbed = await moveCounted(bench, { companies, timing }, report, async (batch, kill) => {
        recoveredMs = await killInTheMiddle(bench.ferry, batch, kill);
      });
      return [
        {
          name: 'recover.requests',
          value: disturbed / undisturbed - 1,
          unit: 'share of requests made again',
          goal: ['<=', 0.02],
          note: `${companies} companies: ${disturbed} requests, undisturbed ${undisturbed}, without those that ask how far syncs are`,
        },
        {
          name: 'recover',
          value: recoveredMs / 1_000,
          unit: 's until every company of the killed worker moves again',
          goal: ['<=', HEARTBEAT_TIMEOUT_S + 5],
        },
      ];
    });
  },
};

/** Moves companies with two workers. @returns how many requests the service was asked, but for how far syncs are */
async function moveCounted(
  { ferry, service, startWorker }: Workbench,
  { companies, timing }: { readonly companies: number; readonly timing: WorkerTiming },
  report: Report,
  disturb: (batch: ReadyBatch, kill: () => Promise<void>) => Promise<void>,
): Promise<number> {
  const [one, other] = [await startWorker(timing), await startWorker(timing)];
  const batch = await readyBatch(ferry, companies);
  const before = await service.answers();
  await Promise.all([
    moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies')),
    disturb(batch, () => one.kill()),
  ]);
  const after = await service.answers();
  await Promise.all([one.stop(), other.stop()]);
  return after.requests - after.looks - (before.requests - before.looks);
}

/** @returns how long after the kill the last company that was on its way had moved on. Milliseconds. */
async function killInTheMiddle(
  ferry: LedgerClient,
  { id, companies }: ReadyBatch,
  kill: () => Promise<void>,
): Promise<number> {
  // Imports are ahead of what has been verified.
  while ((await countCompanies(ferry.db, id)).waiting > companies / 2) await delay(LOOK_EVERY_MS);
  await kill();
  const killedAt = performance.now();
  const held = await heldCompanies(ferry, id);
  const isHeldStill = new Set([...held.keys()]);
  while (isHeldStill.size > 0) {
    await delay(LOOK_EVERY_MS);
    const now = await heldCompanies(ferry, id);
    for (const row of isHeldStill) if (now.get(row) !== held.get(row)) isHeldStill.delete(row);
  }
  return performance.now() - killedAt;
}

/** The companies that somebody has in hand, and how often they were taken in hand before. */
async function heldCompanies({ db }: LedgerClient, id: string): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('companies')
    .select(['row', 'state', 'tries', 'checks'])
    .where('migration_id', '=', id)
    .where('state', 'in', ['importing', 'syncing'])
    .execute();
  return new Map(rows.map(({ row, state, tries, checks }) => [row, `${state} ${tries} ${checks}`]));
}
