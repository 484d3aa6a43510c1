/** Measures the cost of durability, by alternating between a batch and a script that makes the same calls. */
import type { Benchmark, Measured, Run } from '../figures';
import { median } from '../figures';
import type { MoveTimes } from '../processes/script';
import { runScript } from '../processes/script';
import { moveBatch, prepareBatch } from '../migration';
import { UNLIMITED } from '../processes/service';
import type { MeasuredWorker } from '../processes/worker';
import { CONCURRENCY, allocateCompanies } from '../companies';
import type { BenchEnvironment } from '../environment';
import { withEnvironment } from '../environment';

const LATENCY_MS = 50;

export const throughput: Benchmark = {
  description: 'a batch and a script with the same calls, as fast as the service answers',
  measure: (run) => alternate(run, undefined, (rounds) => [wallTime('throughput', 0.85, rounds), cpuTime(rounds)]),
};

export const latency: Benchmark = {
  description: `a batch and a script with the same calls, on a service whose responses take ${LATENCY_MS} ms longer`,
  measure: (run) => alternate(run, LATENCY_MS, (rounds) => [wallTime('latency', 0.95, rounds)]),
};

interface Round {
  readonly companies: number;
  readonly script: MoveTimes;
  readonly ferry: MoveTimes;
}

function wallTime(name: string, goal: number, rounds: readonly Round[]): Measured {
  return {
    name,
    value: median(rounds.map(({ script, ferry }) => script.tookMs / ferry.tookMs)),
    unit: 'wall time, script / tokenferry',
    goal: ['>=', goal],
    note: perSecond(rounds),
  };
}

function cpuTime(rounds: readonly Round[]): Measured {
  const perCompany = (who: 'script' | 'ferry') => each(rounds, (round) => round[who].cpuMs / round.companies);
  return {
    name: 'cpu',
    value: median(rounds.map(({ script, ferry }) => ferry.cpuMs / script.cpuMs)),
    unit: 'CPU time of the worker, tokenferry / script',
    goal: ['<=', 2],
    note: `per company ${perCompany('ferry')} ms / ${perCompany('script')} ms`,
  };
}

async function alternate(
  { quick, report, save }: Run,
  latencyMs: number | undefined,
  figuresOf: (rounds: readonly Round[]) => readonly Measured[],
): Promise<readonly Measured[]> {
  const [companies, rounds] = quick ? [100, 1] : [10_000, 5];
  const settings = { requestsPerMinute: UNLIMITED, syncBaseMs: 20, syncMsPerRecord: 1 };
  return withEnvironment({ ...settings, ...(latencyMs !== undefined && { latencyMs }) }, async (bench) => {
    const total = rounds * companies * 2;
    const measured: Round[] = [];
    const worker = await bench.startWorker();
    // Warm up, because the first companies are slower while code is compiled and caches are empty.
    await moveByFerry(bench, worker, 50, () => undefined);
    for (let round = 0; round < rounds; round += 1) {
      const reporter = (who: string, before: number) => (moved: number) =>
        report((2 * round + before) * companies + moved, total, `${who}, round ${round + 1} of ${rounds}`);
      const byScript = (before: number) => moveByScript(bench, companies, reporter('script', before));
      const byFerry = (before: number) => moveByFerry(bench, worker, companies, reporter('tokenferry', before));
      // Alternate the order, because the service becomes slower with every company.
      const both =
        round % 2 === 0
          ? { script: await byScript(0), ferry: await byFerry(1) }
          : { ferry: await byFerry(0), script: await byScript(1) };
      measured.push({ companies, ...both });
      save(figuresOf(measured));
    }
    return figuresOf(measured);
  });
}

async function moveByScript({ service }: BenchEnvironment, companies: number, report: (moved: number) => void) {
  const atOnce = CONCURRENCY.slicesAtOnce * CONCURRENCY.companiesPerSliceAtOnce;
  report(0);
  return runScript({ ...service, companies: allocateCompanies(companies), concurrency: atOnce }, report);
}

async function moveByFerry(
  { ferry }: BenchEnvironment,
  worker: MeasuredWorker,
  companies: number,
  report: (moved: number) => void,
): Promise<MoveTimes> {
  report(0);
  const batch = await prepareBatch(ferry, companies);
  const before = await worker.usage();
  const tookMs = await moveBatch(ferry, batch, report);
  const { cpuMs } = await worker.usage();
  return { tookMs, cpuMs: cpuMs - before.cpuMs };
}

function perSecond(rounds: readonly Round[]): string {
  const rate = (who: 'script' | 'ferry') => each(rounds, (round) => (round.companies * 1_000) / round[who].tookMs);
  return `companies per second in each round of ${rounds[0]?.companies}: script ${rate('script')}; tokenferry ${rate('ferry')}`;
}

/** Returns the rounded values of all rounds, separated by spaces. */
function each(rounds: readonly Round[], valueOf: (round: Round) => number): string {
  return rounds.map((round) => valueOf(round).toPrecision(3)).join(' ');
}
