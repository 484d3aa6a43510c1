/** The script that Tokenferry is compared with: the job in job.ts, and nothing else. */
import { setTimeout as delay } from 'node:timers/promises';
import { companiesOf } from '../companies';
import { serveParent } from './child-process';
import { createLimit, openJob, type Job, type JobCompany } from './job';
import type { MoverCalls, MoverSettings, MoverWork, MoveTimes } from './mover';
import { usage } from './usage';

const POLL_DELAY_MS = 250;

let settings: MoverSettings;
let moved = 0;

async function move({ companies, concurrency, firstCheckAfterMs }: MoverWork): Promise<MoveTimes> {
  const rows = companiesOf(companies);
  const job = openJob({ ...settings, connections: concurrency });
  const limit = createLimit(concurrency);
  moved = 0;
  const startedAt = performance.now();
  const before = usage();
  await Promise.all(rows.map((company) => moveOne(job, limit, company, firstCheckAfterMs)));
  const { cpuMs } = usage();
  const tookMs = performance.now() - startedAt;
  await job.close();
  return { tookMs, cpuMs: cpuMs - before.cpuMs };
}

async function moveOne(
  job: Job,
  limit: ReturnType<typeof createLimit>,
  company: JobCompany,
  firstCheckAfterMs: number,
): Promise<void> {
  let isMoved = false;
  const imported = await limit(async () => {
    const ids = await job.importCompany(company);
    if (firstCheckAfterMs === 0) isMoved = await job.verifyCompany(company, ids);
    return ids;
  });
  while (!isMoved) {
    await delay(firstCheckAfterMs || POLL_DELAY_MS);
    isMoved = await limit(() => job.verifyCompany(company, imported));
  }
  moved += 1;
}

const served: MoverCalls = {
  start: async (given) => void (settings = given),
  move,
  moved: async () => moved,
};

serveParent(served, async () => undefined);
