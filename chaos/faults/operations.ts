/** Faults that operators cause: they restore a database, or roll out another build. */
import { setTimeout as delay } from 'node:timers/promises';
import { randomSeconds, type FaultKind, type FaultContext } from './fault';

/** The age of the copy that is restored. */
const COPY_AGE_MS = 6_000;

/** Restores the ledger to an older state, and repairs it as docs/backup.md says. */
export const restoreLedger: FaultKind = (context) => ({
  name: 'restore the ledger',
  lastsMs: 0,
  begin: async () => {
    const { ledger } = context.cluster.databases;
    const copy = await ledger.copy();
    await delay(COPY_AGE_MS);
    await withoutWorkers(context, () => ledger.restore(copy));
  },
  repair: () => repairLedgers(context),
});

/** Restores Temporal's database to an older state. */
export const restoreTemporal: FaultKind = (context) => ({
  name: "restore Temporal's database",
  lastsMs: 0,
  begin: async () => {
    const { temporal, databases } = context.cluster;
    const copy = await databases.temporal.copy();
    await delay(COPY_AGE_MS);
    await withoutWorkers(context, async () => {
      const processes = Object.values(temporal);
      await Promise.all(processes.map((each) => each.kill()));
      await databases.temporal.restore(copy);
      await Promise.all(processes.map((each) => each.start()));
    });
  },
  repair: () => repairLedgers(context),
});

async function withoutWorkers({ cluster: { workers } }: FaultContext, work: () => Promise<void>): Promise<void> {
  await Promise.all(workers.map((worker) => worker.kill()));
  await work();
  await Promise.all(workers.map((worker) => worker.start()));
}

async function repairLedgers({ migrations }: FaultContext): Promise<void> {
  await Promise.all(migrations.map((migration) => migration.repairLedger()));
  await Promise.all(migrations.map((migration) => migration.supervise()));
}

/**
 * Rolls a changed build out on one worker and makes this build current. Then makes the original build current again.
 * The worker keeps the changed build, because batch runs that began on this build are pinned to it.
 */
export const newBuild: FaultKind = ({ cluster, changedBundle }, random) => {
  const [, worker] = cluster.workers;
  return {
    name: `roll a changed build out on ${worker.name}, and back`,
    lastsMs: randomSeconds(random, 8, 15),
    begin: async () => {
      await worker.kill();
      worker.bundle = changedBundle;
      await worker.start();
      await cluster.makeCurrent(changedBundle);
    },
    repair: () => cluster.makeCurrent(null),
  };
};
