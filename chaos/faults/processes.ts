/** Faults of processes: killed, suspended, or started with a wrong clock. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterProcess } from '../cluster';
import { randomSeconds, type Fault, type FaultKind, type FaultContext } from './fault';

/** Longer than a slice's heartbeat timeout (15 s) and most request timeouts (30 s), shorter than the lease (135 s). */
const SUSPENDED_MS = 40_000;
/** How long a worker takes to end after a suspension: until its next check (1 s), and for its last log lines (2 s). */
const ENDS_WITHIN_MS = 10_000;

const killed = (processes: readonly ClusterProcess[], lastsMs: number): Fault => ({
  name: `kill ${namesOf(processes)}`,
  lastsMs,
  begin: async () => {
    await Promise.all(processes.map((each) => each.kill()));
  },
  repair: async () => {
    await Promise.all(processes.map((each) => each.start()));
  },
});

const namesOf = (processes: readonly ClusterProcess[]): string => processes.map(({ name }) => name).join(' and ');

export const killWorker: FaultKind = ({ cluster }, random) =>
  killed([random.pick(cluster.workers)], randomSeconds(random, 0, 4));

export const killBothWorkers: FaultKind = ({ cluster }, random) => killed(cluster.workers, randomSeconds(random, 0, 4));

export const killService: FaultKind = ({ cluster }, random) => killed([cluster.service], randomSeconds(random, 1, 6));

/** Kills one of the three Postgres servers. Connections to it are cut, and new ones refused. */
export const killDatabase: FaultKind = ({ cluster }, random) =>
  killed([random.pick(Object.values(cluster.databases))], randomSeconds(random, 1, 6));

/** Kills one of Temporal's four services. */
export const killTemporalService: FaultKind = ({ cluster }, random) =>
  killed([random.pick(Object.values(cluster.temporal))], randomSeconds(random, 1, 6));

/**
 * Suspends a process for 40 s. It keeps its memory and its connections. A suspended worker
 * notices it and ends, so it is started again. Any other suspended process continues as if no time had passed.
 */
export const suspendProcess: FaultKind = (context, random) => {
  const target = random.pick(suspendable(context));
  return {
    name: `suspend ${target.name} for 40 s`,
    lastsMs: SUSPENDED_MS,
    begin: () => Promise.resolve(target.suspend()),
    repair: async () => {
      target.resume();
      if (!context.cluster.workers.some((worker) => worker === target)) return;
      const deadline = Date.now() + ENDS_WITHIN_MS;
      while (target.running && Date.now() < deadline) await delay(100);
      await target.start();
    },
  };
};

function suspendable({ cluster }: FaultContext): readonly ClusterProcess[] {
  return [...cluster.workers, cluster.service, cluster.temporal.history, cluster.temporal.matching];
}

/** Restarts a worker with a clock that is three minutes fast or slow, and later with the right time. */
export const skewClock: FaultKind = ({ cluster }, random) => {
  const worker = random.pick(cluster.workers);
  const skewMs = random.pick([-180_000, 180_000]);
  const restartWith = async (ms: number): Promise<void> => {
    await worker.kill();
    worker.clockSkewMs = ms;
    await worker.start();
  };
  return {
    name: `clock of ${worker.name} ${skewMs / 1_000} s`,
    lastsMs: randomSeconds(random, 8, 15),
    begin: () => restartWith(skewMs),
    repair: () => restartWith(0),
  };
};
