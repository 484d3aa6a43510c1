/** What a benchmark measures, and how it compares with its goal. */

/** A figure as a benchmark yields it. */
export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly goal: Goal;
}

/** At least or at most this value, in the figure's unit. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** A benchmark: measures something, and says meanwhile how far it is. */
export interface Benchmark {
  readonly about: string;
  /** @param quick smaller: it shows that the benchmark works, its figures say nothing. */
  measure(run: { readonly quick: boolean; readonly report: Report }): Promise<readonly Measured[]>;
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

export function figureOf({ value, goal, unit }: Measured): Figure {
  const rounded = Number(value.toPrecision(4));
  return 'atLeast' in goal
    ? { value: rounded, goal: `>= ${goal.atLeast}`, met: rounded >= goal.atLeast, unit }
    : { value: rounded, goal: `<= ${goal.atMost}`, met: rounded <= goal.atMost, unit };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}
