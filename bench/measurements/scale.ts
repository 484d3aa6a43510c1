/** Measures whether the cost per company depends on the number of companies. */
import type { Benchmark, Measured, Report, Run } from '../figures';
import { historiesOf } from '../histories';
import { moveBatch, prepareBatch } from '../migration';
import { startMeasuredService, UNLIMITED, type ServiceUnderTest } from '../processes/service';
import { startStandIn } from '../processes/stand-in';
import { withEnvironment } from '../environment';

export const scale = scaleOn('scale', 'a stand-in for the service', startStandIn, 1.05);

const SETTINGS = { requestsPerMinute: UNLIMITED };

/** Has a higher time goal than `scale`, because the service itself becomes slower as its tables grow. */
export const serviceScale = scaleOn(
  'service-scale',
  'the Company Data Service',
  () => startMeasuredService(SETTINGS),
  1.15,
);

function scaleOn(
  name: string,
  service: string,
  startService: () => Promise<ServiceUnderTest>,
  timeGoal: number,
): Benchmark {
  return {
    description: `memory, time and events with ten times as many companies, on ${service}`,
    measure: (run) => measureGrowth(name, startService, timeGoal, run),
  };
}

async function measureGrowth(
  name: string,
  startService: () => Promise<ServiceUnderTest>,
  timeGoal: number,
  { quick, report }: Run,
): Promise<readonly Measured[]> {
  // Measure the small size before and after the large one, so that a machine that slows down does not affect the ratio.
  const [fewer, more] = quick ? [20, 200] : [10_000, 100_000];
  const before = await measure(startService, fewer, report);
  const many = await measure(startService, more, report);
  const after = await measure(startService, fewer, report);
  const few = (valueOf: (size: Size) => number): number => (valueOf(before) + valueOf(after)) / 2;
  const ratio = (valueOf: (size: Size) => number): number => valueOf(many) / few(valueOf);
  const each = (valueOf: (size: Size) => number): string =>
    `${few(valueOf).toPrecision(3)} and ${valueOf(many).toPrecision(3)}`;
  return [
    {
      name: `${name}.memory`,
      value: ratio(({ peakRssMb }) => peakRssMb),
      unit: 'peak memory of the worker, many / few',
      goal: ['<=', 1.15],
      note: `${each(({ peakRssMb }) => peakRssMb)} MB, after the batch ${each(({ batchMb }) => batchMb)}`,
    },
    {
      name: `${name}.time`,
      value: ratio(({ msEach }) => msEach),
      unit: 'time per company, many / few',
      goal: ['<=', timeGoal],
      note: `${each(({ msEach }) => msEach)} ms`,
    },
    {
      name: `${name}.events`,
      value: ratio(({ eventsPerThousand }) => eventsPerThousand),
      unit: 'history events per 1,000 companies, many / few',
      goal: ['<=', 1.15],
      note: `${each(({ eventsPerThousand }) => eventsPerThousand)} events`,
    },
    {
      name: `${name}.longest-run`,
      value: many.longestRun,
      unit: 'events of the longest run',
      goal: ['<=', 10_000],
    },
  ];
}

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
async function measure(
  startService: () => Promise<ServiceUnderTest>,
  companies: number,
  report: Report,
): Promise<Size> {
  return withEnvironment(startService, async ({ ferry, startWorker }) => {
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
