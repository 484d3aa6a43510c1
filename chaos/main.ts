/** `npm run chaos -- --seed N --minutes M`: runs migrations under faults that are drawn from a seed. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { createTemporaryFolder } from '../stack/folders';
import { runMutants } from './mutants';
import { withCluster } from './cluster';
import { acquireTemporalServer, TemporalServerUnavailable } from './cluster/temporal/binaries';
import { areGood, runSeeds, seedLines, totalsLine } from './results';
import { crowd, crowdLines, TARGET, type CrowdOptions } from './crowd';
import { runSeed, type RunResult } from './run';
import { isSoakGood, soak, soakLines, type SoakOptions } from './soak';

interface Options {
  readonly seed: number;
  readonly seeds: number;
  readonly minutes: number;
  readonly only?: string;
  readonly quick?: boolean;
  readonly mutants?: true;
  /** Minutes. */
  readonly soak?: number;
  /** The number of migrations. */
  readonly crowd?: number;
}

/** The exit code if Temporal's server is missing on this machine, so that CI can tell this from a failure. */
const UNAVAILABLE = 3;
/** An estimate of the duration of the faults of a quick run. */
const QUICK_MS = 60_000;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(options: Options): Promise<void> {
  const { seed, seeds, minutes, only = '', quick = false, mutants } = options;
  if (mutants) return testChecker();
  // Throws here if Temporal's server is missing, because every seed would fail without it.
  await acquireTemporalServer({ env: process.env, log });
  const folder = createTemporaryFolder();
  log(`Data, logs and evidence: ${folder}`);
  if (options.soak !== undefined) return runSoak({ seed, forMs: options.soak * 60_000, folder, log });
  if (options.crowd !== undefined) return runCrowd({ migrations: options.crowd, folder, log });
  const numbers = Array.from({ length: seeds }, (_, index) => seed + index);
  const run = async (each: number): Promise<RunResult> => {
    const seedFolder = path.join(folder, `seed-${each}`);
    const settings = { seed: each, forMs: quick ? QUICK_MS : minutes * 60_000, quick, folder: seedFolder, only, log };
    const cluster = { folder: path.join(seedFolder, 'cluster'), log, versioned: true };
    return withCluster(cluster, ['SIGINT', 'SIGTERM'], (running) => runSeed(running, settings));
  };
  const results = await runSeeds(numbers, run, (soFar) => {
    writeFileSync(path.join(folder, 'results.json'), JSON.stringify(soFar, null, 2));
    for (const line of [...soFar.slice(-1).flatMap(seedLines), totalsLine(soFar)]) print(line);
  });
  if (!areGood(results)) process.exitCode = 1;
  else if (quick) rmSync(folder, { recursive: true, force: true });
}

/** Runs the mutants, which takes about ten minutes. */
async function testChecker(): Promise<void> {
  const results = await runMutants({ env: process.env, log });
  const failed = results.filter(({ passed }) => !passed);
  for (const { invariant, detail } of failed.flatMap(({ violations }) => violations)) print(`${invariant}: ${detail}`);
  print(
    `mutants: ${results.length - failed.length} of ${results.length} passed ` +
      '(the checker named exactly the broken invariant)',
  );
  if (failed.length > 0) process.exitCode = 1;
}

/** Runs a soak, and writes its result to `soak.json`. */
async function runSoak(options: Omit<SoakOptions, 'ending'>): Promise<void> {
  const early = new AbortController();
  process.once('SIGINT', () => {
    log('Ending the soak early. The last migrations are completed first; then the figures so far are evaluated.');
    early.abort();
  });
  const result = await soak({ ...options, ending: early.signal });
  writeFileSync(path.join(options.folder, 'soak.json'), JSON.stringify(result, null, 2));
  for (const line of soakLines(result)) print(line);
  if (!isSoakGood(result)) process.exitCode = 1;
}

/** Measures a small migration in a crowd, and writes the result to `crowd.json`. */
async function runCrowd(options: CrowdOptions): Promise<void> {
  const result = await crowd(options);
  writeFileSync(path.join(options.folder, 'crowd.json'), JSON.stringify(result, null, 2));
  for (const line of crowdLines(result)) print(line);
  if (result.ratio > TARGET) process.exitCode = 1;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('Enter a number greater than 0.');
  return number;
}

function positiveInteger(text: string): number {
  const number = positive(text);
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('Enter a whole number.');
  return number;
}

new Command('npm run chaos --')
  .option('--seed <number>', 'the first seed; it decides which faults happen, and in which order', positiveInteger, 1)
  .option('--seeds <count>', 'the number of seeds to run, one after another', positiveInteger, 1)
  .option('--minutes <minutes>', 'the duration of fault injection for each seed', positive, 3)
  .option('--only <text>', 'inject only faults whose name contains this text, e.g. restore')
  .option('--quick', 'inject five faults, one of each important kind, in about three minutes')
  .option('--mutants', 'test the checker instead: for each of several broken builds, it must name the broken invariant')
  .option(
    '--soak <minutes>',
    'instead of faults, let a tenth of all requests fail and check that memory, open files and connections do not grow',
    positive,
  )
  .option(
    '--crowd <migrations>',
    'instead of faults, compare how long a small migration takes alone and among this many migrations',
    positiveInteger,
  )
  .action(main)
  .parseAsync()
  .catch((error: unknown) => {
    const isUnavailable = error instanceof TemporalServerUnavailable;
    log(error instanceof Error && !isUnavailable ? (error.stack ?? error.message) : String(error));
    process.exitCode = isUnavailable ? UNAVAILABLE : 1;
  });
