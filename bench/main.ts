/** `npm run bench [-- <name>... --json --quick]`: runs benchmarks and prints a table of their figures and goals. */
import { Command } from 'commander';
import { formatTable, openProgressBar } from '../cli/terminal';
import { cost } from './measurements/cost';
import { decide, open } from './measurements/decisions';
import type { Benchmark, Figure, Measured } from './figures';
import { figureOf } from './figures';
import { limit } from './measurements/limit';
import { memory } from './measurements/memory';
import { pacing } from './measurements/pacing';
import { recover } from './measurements/recover';
import type { Result } from './results';
import { systemLoad, writeResults } from './results';
import { scale } from './measurements/scale';
import { service } from './measurements/service';
import { latency, throughput } from './measurements/throughput';

/** The benchmarks, in the order in which they run. */
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
};

interface Options {
  readonly json?: boolean;
  readonly quick?: boolean;
}

async function main(names: readonly string[], { json, quick = false }: Options): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
  if (unknown.length > 0) {
    throw new Error(`unknown benchmark: ${unknown.join(', ')}. Choose from: ${Object.keys(BENCHMARKS).join(', ')}`);
  }
  const results: Result[] = [];
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
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
    try {
      results.push(...save(await benchmark.measure({ quick, save, report: (...progress) => bar.update(...progress) })));
    } finally {
      bar.close();
    }
  }
  const figures = Object.fromEntries(results.map(({ name, figure }) => [name, figure]));
  process.stdout.write(`${json ? JSON.stringify({ figures }) : tableOf(figures)}\n`);
  if (quick) process.stderr.write('This was a quick run. Its figures show only that the benchmarks work.\n');
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
      goal,
      met ? { text: 'yes', style: 'green' } : { text: 'no', style: 'red' },
      unit,
    ]),
  );
}

new Command('npm run bench --')
  .argument('[names...]', `the benchmarks to run (default: all): ${Object.keys(BENCHMARKS).join(', ')}`)
  .option('--json', 'print one JSON object: {"figures": {name: {"value", "goal", "met", "unit"}}}')
  .option('--quick', 'run a small version that shows only that the benchmarks work')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
