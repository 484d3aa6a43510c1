/** Figures that benchmarks measure, and their goals. */

/** A figure as a benchmark returns it. */
export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The bound has the figure's unit. Absent if the figure is only informative. */
  readonly goal?: readonly [comparison: keyof typeof COMPARISONS, bound: number];
  /** Details for readers: sample sizes, medians, parts of the figure. */
  readonly note?: string;
}

const COMPARISONS = {
  '>=': (value: number, bound: number) => value >= bound,
  '<=': (value: number, bound: number) => value <= bound,
  '<': (value: number, bound: number) => value < bound,
};

/** A benchmark, which reports its progress while it runs. */
export interface Benchmark {
  readonly description: string;
  /**
   * @param run `quick`: run a small version, whose figures are meaningless; `save`: store the figures of the rounds so
   * far, in case a later round is interrupted
   * @throws if the measurement failed; a missed goal is not an error
   */
  measure(run: Run): Promise<readonly Measured[]>;
}

/** A table of results that do not fit into single figures. */
export interface Table {
  readonly heading: string;
  readonly about: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Run {
  readonly quick: boolean;
  readonly report: Report;
  readonly save: (measured: readonly Measured[]) => void;
  /** Stores a table, replacing the one with the same heading. */
  readonly saveTable: (table: Table) => void;
  /** The companies in each batch of a comparison; absent if the command line does not set them. */
  readonly companies?: number;
  /** The rounds of a comparison; absent if the command line does not set them. */
  readonly rounds?: number;
}

/** Reports progress: `done` of `total` units. */
export type Report = (done: number, total: number, note: string) => void;

/** A figure as `--json` prints it. */
export interface Figure {
  readonly value: number;
  /** Null if the figure has no goal; `met` is then null, too. */
  readonly goal: string | null;
  readonly met: boolean | null;
  readonly unit: string;
}

/** Compares the exact value with the goal, without rounding: 0.9499 misses 0.95. */
export function figureOf({ value, goal, unit }: Measured): Figure {
  if (!goal) return { value, goal: null, met: null, unit };
  const [comparison, bound] = goal;
  return { value, goal: goal.join(' '), met: COMPARISONS[comparison](value, bound), unit };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** @param share for example 0.99 for the 99th percentile */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
