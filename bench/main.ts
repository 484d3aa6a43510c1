/** `npm run bench [-- <name>... --json --quick]`: runs benchmarks and prints a table of their figures and goals. */
import { Command, InvalidArgumentError } from 'commander';
import { formatTable } from '../cli/terminal/table';
import { openProgressBar } from '../cli/terminal/progress-bar';
import { cost, limitedCost } from './measurements/cost';
import { decide, open } from './measurements/decisions';
import { figureOf, type Benchmark, type Figure, type Measured, type Report, type Table } from './figures';
import { limit } from './measurements/limit';
import { memory } from './measurements/memory';
import { pacing } from './measurements/pacing';
import { peers } from './measurements/peers';
import { portal } from './measurements/portal';
import { recover } from './measurements/recover';
import { metText, systemLoad, writeResults, writeTable, type Result } from './results';
import { scale, serviceScale } from './measurements/scale';
import { service } from './measurements/service';
import { latency, serviceLatency, serviceThroughput, throughput } from './measurements/throughput';

/** The benchmarks that run by default, in the order in which they run. */
const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  service,
  pacing,
  memory,
  throughput,
  latency,
  limit,
  cost,
  scale,
  decide,
  open,
  recover,
  portal,
};

/** Benchmarks that run only if they are named. */
const NAMED: Readonly<Record<string, Benchmark>> = {
  peers,
  'cost-limited': limitedCost,
  'service-throughput': serviceThroughput,
  'service-latency': serviceLatency,
  'service-scale': serviceScale,
};
const ALL = { ...BENCHMARKS, ...NAMED };

interface Options {
  readonly json?: boolean;
  readonly quick?: boolean;
  readonly companies?: number;
  readonly rounds?: number;
}

async function main(names: readonly string[], { json, quick = false, ...size }: Options): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(ALL, name));
  if (unknown.length > 0) {
    throw new Error(`unknown benchmark: ${unknown.join(', ')}. Choose from: ${Object.keys(ALL).join(', ')}`);
  }
  const results: Result[] = [];
  const tables = new Map<string, Table>();
  for (const [name, benchmark] of Object.entries(names.length === 0 ? BENCHMARKS : ALL)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const load = systemLoad();
    process.stderr.write(`${name}: ${benchmark.description}\n`);
    const bar = openProgressBar(process.stderr);
    const save = (measured: readonly Measured[]): readonly Result[] => {
      const found = measured.map((each) => ({ name: each.name, figure: figureOf(each), note: each.note ?? '', load }));
      // Save the results now, because the next benchmark can take an hour and might be interrupted.
      if (!quick) writeResults(found);
      return found;
    };
    const saveTable = (table: Table): void => {
      tables.set(table.heading, table);
      if (!quick) writeTable(table, load);
    };
    const report: Report = (...progress) => bar.update(...progress);
    try {
      results.push(...save(await benchmark.measure({ quick, ...size, save, saveTable, report })));
    } finally {
      bar.close();
    }
  }
  const figures = Object.fromEntries(results.map(({ name, figure }) => [name, figure]));
  if (!json) for (const table of tables.values()) process.stdout.write(`${textOf(table)}\n`);
  process.stdout.write(`${json ? JSON.stringify({ figures }) : tableOf(figures)}\n`);
  if (quick) process.stderr.write('This was a quick run. Its figures show only that the benchmarks work.\n');
}

function textOf({ heading, about, titles, rows }: Table): string {
  const table = formatTable(
    process.stdout,
    titles.map((title) => ({ title })),
    rows,
  );
  return `${heading}\n${about}\n${table}`;
}

function tableOf(figures: Readonly<Record<string, Figure>>): string {
  return formatTable(
    process.stdout,
    [
      { title: 'Figure', unbroken: true },
      { title: 'Value', align: 'right' },
      { title: 'Goal', align: 'right' },
      { title: 'Met' },
      { title: 'Unit' },
    ],
    Object.entries(figures).map(([name, { value, goal, met, unit }]) => [
      name,
      String(Number(value.toPrecision(4))),
      goal ?? '-',
      met === null ? '-' : { text: metText(met), style: met ? 'green' : 'red' },
      unit,
    ]),
  );
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Enter a whole number of at least 1.');
  return number;
}

new Command('npm run bench --')
  .argument(
    '[names...]',
    `the benchmarks to run: ${Object.keys(ALL).join(', ')} (default: the first ${Object.keys(BENCHMARKS).length})`,
  )
  .option('--json', 'print one JSON object: {"figures": {name: {"value", "goal", "met", "unit"}}}')
  .option('--companies <n>', 'companies in each batch (only for benchmarks that compare, such as peers)', wholeNumber)
  .option('--rounds <n>', 'rounds (only for benchmarks that compare)', wholeNumber)
  .option('--quick', 'run a small version that shows only that the benchmarks work')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
