/**
 * Measures the time from sending a decision to learning that it has been applied. An empty update goes through
 * Temporal in the same way as a decision, so the ratio of their times shows what the decision itself costs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readProgress, type LedgerClient } from '../../client';
import { median, quantile, type Benchmark } from '../figures';
import { applyDecision, SUPPORT } from '../migration';
import { startStandIn } from '../processes/stand-in';
import { openMigrations } from './open-migrations';
import { withEnvironment } from '../environment';

export const decide: Benchmark = {
  description: 'the time from sending a decision to seeing its effect, with one migration',
  measure: async ({ quick, report }) =>
    withEnvironment(startStandIn, async (bench) => {
      await bench.startWorker();
      const [id = ''] = await openMigrations(bench, 1, () => undefined);
      const [decisions, warmUp] = quick ? [10, 2] : [300, 20];
      const empty = await bench.startBaselineUpdates();
      const times: number[] = [];
      const emptyTimes: number[] = [];
      for (let decision = 0; decision < decisions + warmUp; decision += 1) {
        report(decision, decisions + warmUp, 'decisions');
        const message = decision % 2 === 0 ? 'pause' : 'resume';
        times.push(await timeDecision(bench.ferry, id, message));
        await assertEffect(bench.ferry, id, message);
        emptyTimes.push(await empty.time());
      }
      const timed = times.slice(warmUp);
      const [decided, updated] = [median(timed), median(emptyTimes.slice(warmUp))];
      return [
        {
          name: 'decide',
          value: decided / updated,
          unit: 'median time, a decision / an update of an empty workflow',
          goal: ['<=', 1.6],
          note:
            `${decided.toFixed(0)} ms and ${updated.toFixed(0)} ms; 99th percentile of ${decisions} decisions: ` +
            `${quantile(timed, 0.99).toFixed(0)} ms`,
        },
      ];
    }),
};

const PER_SECOND = 20;

export const open: Benchmark = {
  description: `${PER_SECOND} decisions a second, with 1,000 migrations waiting on one worker`,
  measure: async ({ quick, report }) =>
    withEnvironment(startStandIn, async (bench) => {
      await bench.startWorker();
      const [migrations, seconds] = quick ? [40, 2] : [1_000, 60];
      const ids = await openMigrations(bench, migrations, report);
      const deciding: Promise<number>[] = [];
      /** The last decision sent to each migration. */
      const latest = new Map<string, 'pause' | 'resume'>();
      const startedAt = performance.now();
      for (let decision = 0; decision < seconds * PER_SECOND; decision += 1) {
        await delay(startedAt + (decision * 1_000) / PER_SECOND - performance.now());
        report(decision, seconds * PER_SECOND, 'decisions');
        // Let the migrations take turns, so that each gets few decisions, as in production.
        const id = ids[decision % ids.length] ?? '';
        const message = decision % (2 * ids.length) < ids.length ? 'pause' : 'resume';
        latest.set(id, message);
        deciding.push(timeDecision(bench.ferry, id, message));
      }
      // Wait for all decisions, even if one fails, before the environment is stopped.
      await Promise.allSettled(deciding);
      const times = await Promise.all(deciding);
      // Check the effects only now, because each check is as much work as a decision.
      for (const [id, message] of latest) await assertEffect(bench.ferry, id, message);
      return [
        {
          name: 'open',
          value: quantile(times, 0.99),
          unit: 'ms, 99th percentile',
          goal: ['<=', 500],
          note: `median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms of ${times.length} decisions`,
        },
      ];
    }),
};

/** Sends a decision as `ferry` does and returns the time until it was applied, in milliseconds. */
async function timeDecision(ferry: LedgerClient, id: string, message: 'pause' | 'resume'): Promise<number> {
  const sentAt = performance.now();
  await applyDecision(ferry, id, message, { reason: 'measured', ...SUPPORT });
  return performance.now() - sentAt;
}

async function assertEffect(ferry: LedgerClient, id: string, message: 'pause' | 'resume'): Promise<void> {
  const { pause } = await readProgress(ferry, id);
  if ((pause !== null) !== (message === 'pause')) throw new Error(`${id}: ${message} had no effect`);
}
