/** What a benchmark measures, and how it compares with its goal. */

/** A figure as a benchmark yields it. */
export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** In the figure's unit. */
  readonly goal: readonly [comparison: keyof typeof COMPARISONS, bound: number];
  /** What the figure is made of, for whoever wants to know more. */
  readonly note?: string;
}

const COMPARISONS = {
  '>=': (value: number, bound: number) => value >= bound,
  '<=': (value: number, bound: number) => value <= bound,
  '<': (value: number, bound: number) => value < bound,
};

/** A benchmark: measures something, and says meanwhile how far it is. */
export interface Benchmark {
  readonly about: string;
  /**
   * @param run `quick`: smaller, it shows that the benchmark works and its figures say nothing; `keep` takes figures
   * that are final in all but the number of rounds behind them, in case the rest is interrupted
   * @throws whatever kept it from measuring; a goal that is missed is a figure like any other
   */
  measure(run: Run): Promise<readonly Measured[]>;
}

export interface Run {
  readonly quick: boolean;
  readonly report: Report;
  readonly keep: (measured: readonly Measured[]) => void;
}

/** Says how far a benchmark is, in parts of a whole. */
export type Report = (done: number, total: number, note: string) => void;

/** A figure as `--json` prints it. */
export interface Figure {
  readonly value: number;
  readonly goal: string;
  readonly met: boolean;
  readonly unit: string;
}

/** Judges what was measured, not what it is rounded to for people: 0.9499 misses 0.95. */
export function figureOf({ value, goal, unit }: Measured): Figure {
  const [comparison, bound] = goal;
  return { value, goal: goal.join(' '), met: COMPARISONS[comparison](value, bound), unit };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** @param share 0.99: only one of a hundred values is greater */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
