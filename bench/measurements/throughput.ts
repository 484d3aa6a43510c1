/** What durability costs: a batch beside a bare script that makes the same calls, the two alternating. */
import type { Benchmark, Measured, Run } from '../figures';
import { median } from '../figures';
import type { Moved } from '../processes/script';
import { runScript } from '../processes/script';
import { moveBatch, readyBatch } from '../migration';
import { UNLIMITED } from '../processes/service';
import type { MeasuredWorker } from '../processes/worker';
import { AT_ONCE, newCompanies } from '../companies';
import type { Workbench } from '../workbench';
import { onWorkbench } from '../workbench';

const LATENCY_MS = 50;

export const throughput: Benchmark = {
  about: 'a batch and a bare script with the same calls, as fast as the service answers',
  measure: (run) => alternate(run, undefined, (rounds) => [wallTime('throughput', 0.85, rounds), cpuTime(rounds)]),
};

export const latency: Benchmark = {
  about: `the same at a service whose every answer takes ${LATENCY_MS} ms longer`,
  measure: (run) => alternate(run, LATENCY_MS, (rounds) => [wallTime('latency', 0.95, rounds)]),
};

interface Round {
  readonly companies: number;
  readonly script: Moved;
  readonly ferry: Moved;
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
  { quick, report, keep }: Run,
  latencyMs: number | undefined,
  figuresOf: (rounds: readonly Round[]) => readonly Measured[],
): Promise<readonly Measured[]> {
  const [companies, rounds] = quick ? [100, 1] : [10_000, 5];
  const settings = { requestsPerMinute: UNLIMITED, syncBaseMs: 20, syncMsPerRecord: 1 };
  return onWorkbench({ ...settings, ...(latencyMs !== undefined && { latencyMs }) }, async (bench) => {
    const total = rounds * companies * 2;
    const measured: Round[] = [];
    const worker = await bench.startWorker();
    // What is done for the first time is slower: code is compiled, connections and caches are filled.
    await moveByFerry(bench, worker, 50, () => undefined);
    for (let round = 0; round < rounds; round += 1) {
      const tell = (who: string, before: number) => (moved: number) =>
        report((2 * round + before) * companies + moved, total, `${who}, round ${round + 1} of ${rounds}`);
      const byScript = (before: number) => moveByScript(bench, companies, tell('bare script', before));
      const byFerry = (before: number) => moveByFerry(bench, worker, companies, tell('tokenferry', before));
      // The service has more to carry with every company: who always came second would pay for that.
      const both =
        round % 2 === 0
          ? { script: await byScript(0), ferry: await byFerry(1) }
          : { ferry: await byFerry(0), script: await byScript(1) };
      measured.push({ companies, ...both });
      keep(figuresOf(measured));
    }
    return figuresOf(measured);
  });
}

async function moveByScript({ service }: Workbench, companies: number, report: (moved: number) => void) {
  const atOnce = AT_ONCE.slicesAtOnce * AT_ONCE.companiesPerSliceAtOnce;
  report(0);
  return runScript({ ...service, companies: newCompanies(companies), atOnce }, report);
}

async function moveByFerry(
  { ferry }: Workbench,
  worker: MeasuredWorker,
  companies: number,
  report: (moved: number) => void,
): Promise<Moved> {
  report(0);
  const batch = await readyBatch(ferry, companies);
  const before = await worker.usage();
  const tookMs = await moveBatch(ferry, batch, report);
  const { cpuMs } = await worker.usage();
  return { tookMs, cpuMs: cpuMs - before.cpuMs };
}

function perSecond(rounds: readonly Round[]): string {
  const rate = (who: 'script' | 'ferry') => each(rounds, (round) => (round.companies * 1_000) / round[who].tookMs);
  return `${rounds.length} rounds of ${rounds[0]?.companies} companies, in a second: script ${rate('script')}; tokenferry ${rate('ferry')}`;
}

/** A value of every round, rounded for people. */
function each(rounds: readonly Round[], valueOf: (round: Round) => number): string {
  return rounds.map((round) => valueOf(round).toPrecision(3)).join(' ');
}
