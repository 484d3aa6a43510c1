/**
 * Measures the cost of durability: a batch and a script take turns sending the same requests. Without added latency,
 * the stand-in takes almost no time, so figures with the stand-in show the full cost. The Company Data Service takes
 * most of the time, so figures with the service show how much of the cost users notice.
 */
import { startScript, tokenferry, type Contender } from '../contenders';
import { withEnvironment, type BenchEnvironment } from '../environment';
import { median, type Benchmark, type Measured, type Run } from '../figures';
import { CONCURRENCY } from '../companies';
import { startMeasuredService, UNLIMITED, type ServiceUnderTest } from '../processes/service';
import { startStandIn } from '../processes/stand-in';
import {
  atOnce,
  compare,
  cpuPerCompany,
  eachRound,
  perSecond,
  speedRatio,
  turnsOf,
  type Case,
  type Turn,
} from './comparison';

export const FIFTY = { slicesAtOnce: 5, companiesPerSliceAtOnce: 10 };
export const TWO_HUNDRED = { slicesAtOnce: 4, companiesPerSliceAtOnce: 50 };
export const LATENCY_MS = 50;

/**
 * The target for the CPU time per company of the worker, Temporal and the ledger, in milliseconds: with 50 companies at
 * once and no latency.
 */
export const CPU_GOAL = ['<=', 2.5] as const;

const FAST: Case = { latencyMs: 0, limits: FIFTY };
const SLOW: Case = { latencyMs: LATENCY_MS, limits: FIFTY };
const SLOW_WIDE: Case = { latencyMs: LATENCY_MS, limits: TWO_HUNDRED };

export const throughput: Benchmark = {
  description: 'a batch and a script with the same requests, on a stand-in for the service',
  measure: (run) =>
    onStandIn(run, [FAST], (turns) => [againstScript('throughput', turns, FAST), cpuTime('cpu', turns, FAST)]),
};

export const latency: Benchmark = {
  description: `a batch and a script with the same requests, on a stand-in for the service whose responses take ${LATENCY_MS} ms`,
  measure: (run) =>
    onStandIn(run, [SLOW, SLOW_WIDE], (turns) => [
      againstScript('latency', turns, SLOW, ['>=', 1.2]),
      againstScript('latency.200', turns, SLOW_WIDE, ['>=', 0.85]),
    ]),
};

const SERVICE: Case = { latencyMs: 0, limits: CONCURRENCY };
const SLOW_SERVICE: Case = { latencyMs: LATENCY_MS, limits: CONCURRENCY };

export const serviceThroughput: Benchmark = {
  description: 'a batch and a script with the same requests, on the Company Data Service',
  measure: (run) =>
    onService(run, SERVICE, (turns) => [
      againstScript('service-throughput', turns, SERVICE, ['>=', 0.85]),
      cpuTime('service-cpu', turns, SERVICE),
    ]),
};

export const serviceLatency: Benchmark = {
  description: `a batch and a script with the same requests, on the Company Data Service with ${LATENCY_MS} ms more per response`,
  measure: (run) =>
    onService(run, SLOW_SERVICE, (turns) => [againstScript('service-latency', turns, SLOW_SERVICE, ['>=', 0.95])]),
};

type FiguresOf = (turns: readonly Turn[]) => readonly Measured[];

function againstScript(name: string, turns: readonly Turn[], each: Case, goal?: Measured['goal']): Measured {
  const rate = (contender: string) => eachRound(turnsOf(turns, contender, each), perSecond);
  return {
    name,
    value: speedRatio(turns, 'tokenferry', 'script', each),
    unit: 'companies per second, tokenferry / script',
    ...(goal && { goal }),
    note: `${atOnce(each)} at once; companies per second in each round of ${turns[0]?.companies}: script ${rate('script')}; tokenferry ${rate('tokenferry')}`,
  };
}

function cpuTime(name: string, turns: readonly Turn[], each: Case): Measured {
  const ferry = turnsOf(turns, 'tokenferry', each);
  const parts = [...new Set(ferry.flatMap(({ cpuMs }) => Object.keys(cpuMs)))];
  const perPart = parts.map(
    (part) => `${part} ${eachRound(ferry, ({ companies, cpuMs }) => (cpuMs[part] ?? 0) / companies)}`,
  );
  return {
    name,
    value: median(ferry.map(cpuPerCompany)),
    unit: `ms of CPU time per company: ${parts.join(', ')}`,
    ...(name === 'cpu' && { goal: CPU_GOAL }),
    note: `${perPart.join('; ')}; script ${eachRound(turnsOf(turns, 'script', each), cpuPerCompany)}`,
  };
}

function onStandIn(run: Run, cases: readonly Case[], figuresOf: FiguresOf): Promise<readonly Measured[]> {
  return withEnvironment(startStandIn, (bench) =>
    withScript(bench, (contenders) => measure(run, bench.service, contenders, cases, 0, figuresOf)),
  );
}

/** The script first checks a company after this time, as Tokenferry does, so that the shortest syncs have ended. */
const SERVICE_CHECK_MS = 250;

function onService(run: Run, each: Case, figuresOf: FiguresOf): Promise<readonly Measured[]> {
  const { latencyMs } = each;
  const settings = { requestsPerMinute: UNLIMITED };
  return withEnvironment(
    () => startMeasuredService({ ...settings, ...(latencyMs > 0 && { latencyMs }) }),
    (bench) =>
      withScript(bench, (contenders) => measure(run, bench.service, contenders, [each], SERVICE_CHECK_MS, figuresOf)),
  );
}

async function withScript<T>(
  bench: BenchEnvironment,
  work: (contenders: readonly Contender[]) => Promise<T>,
): Promise<T> {
  const script = await startScript(bench.service);
  try {
    return await work([script, tokenferry(bench, await bench.startWorker())]);
  } finally {
    await script.stop();
  }
}

async function measure(
  { quick, report, save, companies, rounds }: Run,
  service: ServiceUnderTest,
  contenders: readonly Contender[],
  cases: readonly Case[],
  firstCheckAfterMs: number,
  figuresOf: FiguresOf,
): Promise<readonly Measured[]> {
  const size = quick ? { companies: 100, rounds: 1 } : { companies: companies ?? 10_000, rounds: rounds ?? 5 };
  const turns = await compare(
    { cases, contenders, ...size, firstCheckAfterMs, report, save: (some) => save(figuresOf(some)) },
    service,
  );
  return figuresOf(turns);
}
