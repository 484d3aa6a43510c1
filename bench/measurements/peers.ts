/**
 * Compares Tokenferry with its peers and a script, which take turns doing the same job on a stand-in for the service.
 */
import path from 'node:path';
import { jobOf, moverContender, startScript, tokenferry, type Contender } from '../contenders';
import { withEnvironment, withParts } from '../environment';
import { median, type Benchmark, type Measured, type Table } from '../figures';
import { installPeers, startDbos, startRestate } from '../processes/peers';
import { startStandIn } from '../processes/stand-in';
import { counted } from '../../domain/text/sentences';
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
import { CPU_GOAL, FIFTY, LATENCY_MS, TWO_HUNDRED } from './throughput';

const CASES: readonly [Case, ...Case[]] = [
  { latencyMs: 0, limits: FIFTY },
  { latencyMs: 0, limits: TWO_HUNDRED },
  { latencyMs: LATENCY_MS, limits: FIFTY },
  { latencyMs: LATENCY_MS, limits: TWO_HUNDRED },
];
/** The case whose CPU time is reported: the same case as for the figure `cpu`. */
const [CPU_CASE] = CASES;
const PEERS = ['dbos', 'restate'];

export const peers: Benchmark = {
  description: 'Tokenferry, a script, DBOS and Restate with the same requests, on a stand-in for the service',
  measure: async ({ quick, report, save, saveTable, companies, rounds }) => {
    installPeers();
    const size = quick ? { companies: 100, rounds: 1 } : { companies: companies ?? 3_000, rounds: rounds ?? 3 };
    return withEnvironment(startStandIn, (bench) =>
      withParts(async (folder, started) => {
        const job = jobOf(bench.service);
        const script = started(await startScript(bench.service));
        const dbos = started(await startDbos(job, path.join(folder, 'dbos')));
        const restate = started(await startRestate(job, path.join(folder, 'restate')));
        const contenders: readonly Contender[] = [
          script,
          moverContender('dbos', 'worker', dbos.mover, () => dbos.othersCpuMs()),
          moverContender('restate', 'client', restate.mover, () => restate.othersCpuMs()),
          tokenferry(bench, await bench.startWorker()),
        ];
        const names = contenders.map(({ name }) => name);
        const turns = await compare(
          {
            ...{ cases: CASES, contenders, ...size, firstCheckAfterMs: 0, report },
            save: (some) => {
              save(figuresOf(some));
              saveTable(tableOf(some, names));
            },
          },
          bench.service,
        );
        return figuresOf(turns);
      }),
    );
  },
};

const titleOf = (each: Case): string => `${each.latencyMs} ms, ${atOnce(each)} at once`;

/** Returns the figures. Leaves out a figure if the turns that it needs have not been finished yet. */
function figuresOf(turns: readonly Turn[]): readonly Measured[] {
  const ratios = PEERS.flatMap((peer) =>
    CASES.map((each): Measured => ({
      name: `peers.${peer}.${each.latencyMs}-${atOnce(each)}`,
      value: speedRatio(turns, 'tokenferry', peer, each),
      unit: `companies per second, tokenferry / ${peer}`,
      goal: ['>=', 1.3],
      note: titleOf(each),
    })),
  );
  const cpu: Measured = {
    name: 'peers.cpu',
    value: median(turnsOf(turns, 'tokenferry', CPU_CASE).map(cpuPerCompany)),
    unit: 'ms of CPU time per company',
    goal: CPU_GOAL,
    note: titleOf(CPU_CASE),
  };
  return [...ratios, cpu].filter(({ value }) => !Number.isNaN(value));
}

function tableOf(turns: readonly Turn[], names: readonly string[]): Table {
  const rounds = Math.max(...names.map((name) => turnsOf(turns, name, CPU_CASE).length));
  return {
    heading: 'The same job by a script, by DBOS and by Restate',
    about:
      `Companies per second, and CPU time per company, with a stand-in for the service: medians of ` +
      `${counted(rounds, 'round')} of ${turns[0]?.companies} companies, with the value of each round in brackets. ` +
      `CPU time is measured with ${titleOf(CPU_CASE)}. DBOS and Restate run the job in two steps.`,
    titles: ['', ...CASES.map(titleOf), 'CPU time, ms', 'by process'],
    rows: names.map((name) => [
      name,
      ...CASES.map((each) => rateOf(turnsOf(turns, name, each))),
      ...cpuOf(turnsOf(turns, name, CPU_CASE)),
    ]),
  };
}

function rateOf(turns: readonly Turn[]): string {
  if (turns.length === 0) return '-';
  return `${median(turns.map(perSecond)).toPrecision(3)} (${eachRound(turns, perSecond)})`;
}

/** Returns the median CPU time per company, of all processes together and of each process. */
function cpuOf(turns: readonly Turn[]): readonly [string, string] {
  if (turns.length === 0) return ['-', '-'];
  const parts = Object.keys(turns[0]?.cpuMs ?? {}).map((part) => {
    const ms = median(turns.map(({ companies, cpuMs }) => (cpuMs[part] ?? 0) / companies));
    return `${part} ${ms.toFixed(2)}`;
  });
  return [median(turns.map(cpuPerCompany)).toFixed(2), parts.join(', ')];
}
