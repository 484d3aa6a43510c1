/** Measures a worker's memory while migrations wait for people, which is most of the time. */
import type { Benchmark } from '../figures';
import { startStandIn } from '../processes/stand-in';
import { openMigrations } from './open-migrations';
import { withEnvironment } from '../environment';

export const memory: Benchmark = {
  description: 'the memory of one worker while migrations wait for decisions',
  measure: async ({ quick, report }) =>
    withEnvironment(startStandIn, async (bench) => {
      const worker = await bench.startWorker();
      const before = await worker.usage();
      await openMigrations(bench, quick ? 20 : 1_000, report);
      const atTheEnd = await worker.usage();
      const heaps = await worker.collectGarbage();
      const { rssMb } = await worker.usage();
      return [
        {
          name: 'memory',
          value: rssMb,
          unit: `MB of memory (RSS) after a garbage collection, ${quick ? 20 : '1,000'} migrations waiting`,
          goal: ['<=', 350],
          note:
            `in MB: ${before.rssMb.toFixed(0)} before, ${atTheEnd.rssMb.toFixed(0)} before the collection, ` +
            `${atTheEnd.peakRssMb.toFixed(0)} at the peak; heaps after the collection: main thread ` +
            `${heaps.mainMb.toFixed(0)}, workflows ${heaps.othersMb.toFixed(0)}`,
        },
      ];
    }),
};
