/** The results of the seeds, and the lines that report them. */
import { counted } from '../domain/text/sentences';
import type { RunResult } from './run';

/** A seed without a result, because its run ended with an error. */
export interface FailedSeed {
  readonly seed: number;
  /** The message of the error. */
  readonly error: string;
}

export type SeedResult = RunResult | FailedSeed;

/**
 * Runs seeds one after another. A seed whose run throws is recorded as failed, and the next one runs.
 *
 * @param report called after each seed with the results so far, so that an interruption loses none of them
 */
export async function runSeeds(
  seeds: readonly number[],
  run: (seed: number) => Promise<RunResult>,
  report: (results: readonly SeedResult[]) => void,
): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = [];
  for (const seed of seeds) {
    try {
      results.push(await run(seed));
    } catch (error) {
      results.push({ seed, error: error instanceof Error ? error.message : String(error) });
    }
    report(results);
  }
  return results;
}

const hasFailed = (result: SeedResult): result is FailedSeed => 'error' in result;

/**
 * Returns whether every seed has a result, no invariant is broken, and no retry has moved a company whose outcome was
 * unknown.
 */
export function areGood(results: readonly SeedResult[]): boolean {
  return results.every(
    (result) => !hasFailed(result) && result.check.violations.length + result.movedByRetry.length === 0,
  );
}

/** Returns the lines that report one seed. */
export function seedLines(result: SeedResult): readonly string[] {
  if (hasFailed(result)) return [`seed ${result.seed}: FAILED: ${result.error}`];
  const { check, seed, companies, faults, unknown, movedByRetry } = result;
  return [
    ...violationLines(result),
    `seed ${seed}: ${counted(companies, 'company')}, ${counted(faults.length, 'fault')}, ` +
      `${counted(check.violations.length, 'violation')}, ${counted(unknown, 'unknown outcome')}, ` +
      `moved by a retry: ${movedByRetry.length}`,
  ];
}

/** Returns a line for each violation. */
export function violationLines({ check, movedByRetry }: Pick<RunResult, 'check' | 'movedByRetry'>): readonly string[] {
  return [
    ...check.violations.map(
      ({ invariant, migration, reference, detail }) => `VIOLATION ${invariant}: ${migration} ${reference}: ${detail}`,
    ),
    ...movedByRetry.map((company) => `VIOLATION: the outcome of ${company} was unknown, and a retry moved it`),
  ];
}

/** Returns the line with the totals of all seeds. */
export function totalsLine(results: readonly SeedResult[]): string {
  const failed = results.filter(hasFailed).length;
  const faults = results.flatMap((result) => (hasFailed(result) ? [] : result.faults));
  const recoveries = faults.flatMap(({ recovery }) => (recovery === null ? [] : [recovery]));
  const inOrder = recoveries.map((each) => (each === 'timed out' ? Infinity : each)).sort((a, b) => a - b);
  const [median, maximum] = [inOrder[Math.floor(inOrder.length / 2)], inOrder.at(-1)];
  const recovery =
    median === undefined || maximum === undefined
      ? 'no recovery measured'
      : `recovery ${seconds(median)} (median), ${seconds(maximum)} (maximum of ${inOrder.length})`;
  return `${counted(results.length, 'seed')} (${failed} failed), ${counted(faults.length, 'fault')}, ${recovery}`;
}

const seconds = (ms: number): string => (ms === Infinity ? 'over 60 s' : `${(ms / 1_000).toFixed(1)} s`);
