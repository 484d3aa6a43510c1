/** Measures whether the cost per company depends on the number of companies. */
import type { Benchmark, Report } from '../figures';
import { historiesOf } from '../histories';
import { moveBatch, prepareBatch } from '../migration';
import { UNLIMITED } from '../processes/service';
import { withEnvironment } from '../environment';

export const scale: Benchmark = {
  description: 'memory, time and events with ten times as many companies',
  measure: async ({ quick, report }) => {
    // Measure the small size before and after the large one, so that a machine that slows down does not affect the
    // ratio.
    const [fewer, more] = quick ? [20, 200] : [10_000, 100_000];
    const before = await measure(fewer, report);
    const many = await measure(more, report);
    const after = await measure(fewer, report);
    const few = (valueOf: (size: Size) => number): number => (valueOf(before) + valueOf(after)) / 2;
    const ratio = (valueOf: (size: Size) => number): number => valueOf(many) / few(valueOf);
    const each = (valueOf: (size: Size) => number): string =>
      `${few(valueOf).toPrecision(3)} and ${valueOf(many).toPrecision(3)}`;
    return [
      {
        name: 'scale.memory',
        value: ratio(({ peakRssMb }) => peakRssMb),
        unit: 'peak memory of the worker, many / few',
        goal: ['<=', 1.15],
        note: `${each(({ peakRssMb }) => peakRssMb)} MB, after the batch ${each(({ batchMb }) => batchMb)}`,
      },
      {
        name: 'scale.time',
        value: ratio(({ msEach }) => msEach),
        unit: 'time per company, many / few',
        goal: ['<=', 1.15],
        note: `${each(({ msEach }) => msEach)} ms`,
      },
      {
        name: 'scale.events',
        value: ratio(({ eventsPerThousand }) => eventsPerThousand),
        unit: 'history events per 1,000 companies, many / few',
        goal: ['<=', 1.15],
        note: `${each(({ eventsPerThousand }) => eventsPerThousand)} events`,
      },
      {
        name: 'scale.longest-run',
        value: many.longestRun,
        unit: 'events of the longest run',
        goal: ['<=', 10_000],
      },
    ];
  },
};

interface Size {
  readonly msEach: number;
  /** Peak memory during the whole migration, including the preflight. */
  readonly peakRssMb: number;
  /** Memory after the batch. */
  readonly batchMb: number;
  readonly eventsPerThousand: number;
  readonly longestRun: number;
}

/** Measures one size in a new environment, so that the sizes do not affect each other. */
async function measure(companies: number, report: Report): Promise<Size> {
  const settings = { requestsPerMinute: UNLIMITED, syncBaseMs: 20, syncMsPerRecord: 1 };
  return withEnvironment(settings, async ({ ferry, startWorker }) => {
    const worker = await startWorker();
    const batch = await prepareBatch(ferry, companies);
    const tookMs = await moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies'));
    const { peakRssMb, rssMb } = await worker.usage();
    const lengths = (await historiesOf(ferry, batch.id)).map(({ events }) => events.length);
    const events = lengths.reduce((sum, length) => sum + length, 0);
    return {
      msEach: tookMs / companies,
      peakRssMb,
      batchMb: rssMb,
      eventsPerThousand: (events * 1_000) / companies,
      longestRun: Math.max(...lengths),
    };
  });
}
