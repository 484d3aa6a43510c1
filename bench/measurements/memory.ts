/** What migrations cost a worker while they wait for people: most of their life. */
import type { Benchmark } from '../figures';
import { UNLIMITED } from '../processes/service';
import { openMigrations } from './open-migrations';
import { onWorkbench } from '../workbench';

export const memory: Benchmark = {
  about: 'the memory of one worker while migrations wait for decisions',
  measure: async ({ quick, report }) =>
    onWorkbench({ requestsPerMinute: UNLIMITED }, async (bench) => {
      const worker = await bench.startWorker();
      const before = await worker.usage();
      await openMigrations(bench, quick ? 20 : 1_000, report);
      const { rssMb, peakRssMb, heapMb } = await worker.usage();
      return [
        {
          name: 'memory',
          value: rssMb,
          unit: `MB of memory (RSS), ${quick ? 20 : '1,000'} migrations waiting`,
          goal: ['<=', 400],
          note: `MB before ${before.rssMb.toFixed(0)}, peak ${peakRssMb.toFixed(0)}; heap of the main thread ${heapMb.toFixed(0)}, before ${before.heapMb.toFixed(0)}`,
        },
      ];
    }),
};
