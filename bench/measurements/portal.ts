/** Measures the portal while 1,000 browsers watch one migration that moves companies. */
import { setTimeout as delay } from 'node:timers/promises';
import { countCompanies, createInvitation } from '../../store';
import { withEnvironment, type BenchEnvironment } from '../environment';
import { quantile, type Benchmark, type Measured, type Report } from '../figures';
import { prepareBatch, SUPPORT } from '../migration';
import { startBrowsers } from '../processes/browsers';
import type { MeasuredPortal } from '../processes/portal';
import { startStandIn } from '../processes/stand-in';

interface Size {
  readonly browsers: number;
  readonly companiesPerMinute: number;
  readonly reloadEveryMs: number;
  readonly warmUpMs: number;
  readonly measuredMs: number;
  /** The time between two measurements of the memory. */
  readonly sampleEveryMs: number;
}

const FULL: Size = {
  ...{ browsers: 1_000, companiesPerMinute: 1_200, reloadEveryMs: 120_000 },
  ...{ warmUpMs: 40_000, measuredMs: 200_000, sampleEveryMs: 20_000 },
};
const QUICK: Size = {
  ...{ browsers: 20, companiesPerMinute: 600, reloadEveryMs: 4_000 },
  ...{ warmUpMs: 1_000, measuredMs: 12_000, sampleEveryMs: 3_000 },
};
const DAY_MS = 86_400_000;

export const portal: Benchmark = {
  description: 'the portal, with 1,000 browsers that watch one migration',
  measure: async ({ quick, report }) =>
    withEnvironment(startStandIn, (bench) => watch(bench, quick ? QUICK : FULL, report)),
};

async function watch({ ferry, ...bench }: BenchEnvironment, size: Size, report: Report): Promise<readonly Measured[]> {
  const { browsers: count, companiesPerMinute, reloadEveryMs, warmUpMs, measuredMs, sampleEveryMs } = size;
  await bench.startWorker();
  const server = await bench.startPortal();
  // Use enough companies for moves to continue until the end of the measurement.
  const companies = Math.ceil(((warmUpMs + measuredMs) / 60_000 + 1) * companiesPerMinute);
  const { id } = await prepareBatch(ferry, companies, { companiesPerMinute });
  const invitations: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const person = {
      migrationId: id,
      person: `Person ${number}`,
      role: 'client',
      email: null,
      createdBy: 'Sam',
    } as const;
    invitations.push((await createInvitation(ferry.db, { ...person, expiresAt: new Date(Date.now() + DAY_MS) })).token);
  }
  report(0, measuredMs / 1_000, 'seconds; the browsers sign in');
  const browsers = await startBrowsers({ url: server.url, invitations, reloadEveryMs });
  try {
    await ferry.temporal.workflow.getHandle(id).signal('approve', { step: 'migrate-first-company', ...SUPPORT });
    await delay(warmUpMs);
    await browsers.takeFigures();
    const movedBefore = (await countCompanies(ferry.db, id)).moved;
    const [cpuBefore, browsersCpuBefore] = [(await server.usage()).cpuMs, (await browsers.usage()).cpuMs];
    const startedAt = performance.now();
    const memory = await sampleMemory(server, measuredMs, sampleEveryMs, (at) =>
      report(at / 1_000, measuredMs / 1_000, 'seconds'),
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    const found = await browsers.takeFigures();
    const share = (cpuMs: number): string => `${(cpuMs / seconds / 10).toFixed(0)} %`;
    const moved = (await countCompanies(ferry.db, id)).moved - movedBefore;
    if (moved === 0) throw new Error('no company was moved while the browsers were watching');
    if (found.events === 0) throw new Error('no browser received an event, although companies were moved');
    const failures = Object.entries(found.failures).map(([why, times]) => `${why}: ${times}`);
    const load =
      `${count} browsers, ${found.openStreams} streams open at the end, ${(found.events / seconds).toFixed(0)} events/s, ` +
      `${moved} companies moved in ${seconds.toFixed(0)} s; CPU: portal ${share((await server.usage()).cpuMs - cpuBefore)}, ` +
      `browsers ${share((await browsers.usage()).cpuMs - browsersCpuBefore)} of a core`;
    return [
      timesOf('portal.page', found.pageMs, 'ms, 99th percentile of complete page loads', load),
      timesOf(
        'portal.api',
        found.apiMs,
        'ms, 99th percentile of answers of the API',
        `${(found.apiMs.length / seconds).toFixed(0)} requests/s`,
      ),
      {
        ...{ name: 'portal.failures', value: failures.length, unit: 'kinds of failed requests', goal: ['<=', 0] },
        note: failures.join(', '),
      },
      memoryOf(memory),
    ];
  } finally {
    await browsers.stop();
  }
}

const timesOf = (name: string, times: readonly number[], unit: string, note: string): Measured => ({
  ...{ name, unit, value: quantile(times, 0.99), goal: ['<', 300] },
  note: `median ${quantile(times, 0.5).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms of ${times.length}; ${note}`,
});

interface MemorySample {
  readonly minutes: number;
  /** The heap after a garbage collection. */
  readonly heapMb: number;
  readonly rssMb: number;
}

async function sampleMemory(
  server: MeasuredPortal,
  measuredMs: number,
  everyMs: number,
  report: (atMs: number) => void,
): Promise<readonly MemorySample[]> {
  const samples: MemorySample[] = [];
  const startedAt = performance.now();
  for (let at = 0; at <= measuredMs; at += everyMs) {
    await delay(Math.max(0, startedAt + at - performance.now()));
    report(at);
    const { mainMb } = await server.collectGarbage();
    samples.push({
      minutes: (performance.now() - startedAt) / 60_000,
      heapMb: mainMb,
      rssMb: (await server.usage()).rssMb,
    });
  }
  return samples;
}

/** Fits a line through all samples, and compares the heap at its end with the heap at its start. */
function memoryOf(samples: readonly MemorySample[]): Measured {
  const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
  const slope = (value: (sample: MemorySample) => number): number => {
    const [x, y] = [mean(samples.map(({ minutes }) => minutes)), mean(samples.map(value))];
    const squares = samples.map(({ minutes }) => (minutes - x) ** 2);
    return mean(samples.map((each) => (each.minutes - x) * (value(each) - y))) / mean(squares);
  };
  const heap = mean(samples.map(({ heapMb }) => heapMb));
  const span = (samples.at(-1)?.minutes ?? 0) - (samples[0]?.minutes ?? 0);
  const growth = slope(({ heapMb }) => heapMb) * span;
  const rss = samples.map(({ rssMb }) => rssMb.toFixed(0)).join(' ');
  return {
    name: 'portal.memory',
    value: (heap + growth / 2) / (heap - growth / 2),
    unit: 'heap after a garbage collection, end / start of the measurement',
    goal: ['<=', 1.05],
    note:
      `heap ${heap.toFixed(1)} MB, slope ${slope(({ heapMb }) => heapMb).toFixed(2)} MB a minute; ` +
      `RSS ${rss} MB, slope ${slope(({ rssMb }) => rssMb).toFixed(2)} MB a minute`,
  };
}
