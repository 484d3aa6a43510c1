/**
 * The soak: migrations begin at a steady rate while a share of all requests to the service fails. Nothing may grow: no
 * memory, no connections, no open files.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { check } from '../checker';
import { processesOf, withCluster, type Cluster } from '../cluster';
import { withLedgerClient } from '../driver/clients';
import { writeEvidence } from '../evidence';
import { randomOf } from '../random';
import { judge, type Moment } from './figures';
import { runMigrations } from './migrations';
import type { SoakResult } from './report';
import { openSampler } from './sampler';
import { transientFaults } from './transient-faults';

export { isSoakGood, soakLines } from './report';

/** The share of requests that fail. */
const FAULT_SHARE = 0.1;
const SAMPLE_EVERY_MS = 30_000;
const REPORT_EVERY_MS = 600_000;
/**
 * The share of a soak, from its beginning, whose samples are not judged. Memory needs up to 50 minutes to reach its
 * level: Temporal's cache of histories fills, and the allocators of the workers keep the memory that the busiest
 * minutes needed.
 */
const WARM_UP_SHARE = 0.5;

export interface SoakOptions {
  readonly seed: number;
  /** Migrations begin and faults happen for this long, in milliseconds; then the last migrations are completed. */
  readonly forMs: number;
  /** Ends the soak early when it aborts. The figures so far are then judged. */
  readonly ending: AbortSignal;
  /** The folder for all data and logs. Created if it does not exist. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

/** Runs a soak in a cluster of its own. On SIGTERM, stops the cluster and exits. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { folder, log } = options;
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const heapLog = path.join(folder, 'heaps.jsonl');
  writeFileSync(heapLog, '');
  const node = {
    args: ['--expose-gc', '--require', path.join(__dirname, 'heap-log.js')],
    env: { TOKENFERRY_HEAP_LOG: heapLog },
  };
  const cluster = { folder: path.join(folder, 'cluster'), log, versioned: true, node };
  return withCluster(cluster, ['SIGTERM'], (running) => soakIn(running, options, heapLog));
}

async function soakIn(cluster: Cluster, options: SoakOptions, heapLog: string): Promise<SoakResult> {
  const { seed, forMs, folder, log } = options;
  return withLedgerClient(cluster.variables, async (ferry) => {
    const pids = pidsOf(cluster);
    const beganAtMs = Date.now();
    for (const worker of cluster.workers)
      worker.service.setFault(transientFaults(FAULT_SHARE, randomOf(`${seed}/soak/${worker.name}`)));
    const end = new AbortController();
    setTimeout(() => end.abort(), forMs).unref();
    options.ending.addEventListener('abort', () => end.abort());
    // The last migrations are completed without faults.
    end.signal.addEventListener('abort', () => cluster.workers.forEach((worker) => worker.service.setFault(null)));
    const sampling = sampleUntil(end.signal, cluster, { heapLog, folder, log });
    sampling.catch(() => undefined); // awaited after the migrations
    const { migrations, reports, ...outcome } = await runMigrations(ferry, cluster, {
      ...{ seed, ending: end.signal, folder, log },
    });
    const moments = await sampling;
    const minutes = (Date.now() - beganAtMs) / 60_000;
    log(`checking ${migrations.length} migrations`);
    const complete = migrations.filter(({ id }) => reports.some(({ migration }) => migration === id));
    return {
      ...outcome,
      ...{ seed, minutes, migrations: migrations.length },
      companies: migrations.reduce((sum, { companies }) => sum + companies.length, 0),
      check: await check(writeEvidence(cluster, complete, reports, folder)),
      figures: judge(moments, WARM_UP_SHARE * forMs),
      restarted: [...pidsOf(cluster)].flatMap(([name, pid]) => (pid === pids.get(name) ? [] : [name])),
    };
  });
}

function pidsOf(cluster: Cluster): ReadonlyMap<string, number | null> {
  return new Map(processesOf(cluster).map(({ name, pid }) => [name, pid]));
}

/** Samples regularly. Writes all samples to `samples.json`, so that a soak that is interrupted is not lost. */
async function sampleUntil(
  ending: AbortSignal,
  cluster: Cluster,
  { heapLog, folder, log }: Pick<SoakOptions, 'folder' | 'log'> & { readonly heapLog: string },
): Promise<readonly Moment[]> {
  const sampler = await openSampler(cluster, heapLog);
  const moments: Moment[] = [];
  const beganAtMs = Date.now();
  let reportAtMs = beganAtMs;
  try {
    for (let next = beganAtMs + SAMPLE_EVERY_MS; ; next += SAMPLE_EVERY_MS) {
      await delay(Math.max(0, next - Date.now()), undefined, { signal: ending }).catch(() => undefined);
      if (ending.aborted) break;
      const moment = { atMs: Date.now(), figures: await sampler.sample() };
      moments.push(moment);
      writeFileSync(path.join(folder, 'samples.json'), JSON.stringify(moments));
      if (moment.atMs < reportAtMs) continue;
      reportAtMs += REPORT_EVERY_MS;
      log(`${Math.round((moment.atMs - beganAtMs) / 60_000)} min: ${momentText(moment)}`);
    }
    return moments;
  } finally {
    await sampler.close();
  }
}

function momentText({ figures }: Moment): string {
  const shown = figures.filter(
    ({ quantity, part }) =>
      quantity === 'load' || part === 'ledger: moved' || (quantity === 'memory' && /^worker|service/.test(part)),
  );
  return shown
    .map(({ part, quantity, value }) => `${part} ${quantity} ${value.toFixed(value < 10 ? 2 : 0)}`)
    .join('; ');
}
