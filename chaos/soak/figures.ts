/** The figures of a soak over time, and the verdict on each of them. */
import { flatnessOf, type Flatness, type Tolerance } from './flatness';
import type { Figure, Quantity } from './sampler';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly figures: readonly Figure[];
}

export interface JudgedFigure extends Omit<Flatness, 'verdict'> {
  readonly verdict: Flatness['verdict'] | 'not judged';
  readonly part: string;
  readonly quantity: Quantity;
}

/**
 * How much these quantities may grow; memory and heaps are in MB. Quantities that are not listed are not judged,
 * because they grow by design, for example rows, or depend on the machine.
 */
const TOLERANCES: Partial<Record<Quantity, Tolerance>> = {
  memory: { share: 0.1, atLeast: 16 },
  heap: { share: 0.1, atLeast: 4 },
  'workflow heap': { share: 0.1, atLeast: 4 },
  files: { share: 0.1, atLeast: 5 },
  connections: { share: 0.1, atLeast: 5 },
};
const ANY: Tolerance = { share: Infinity, atLeast: Infinity };

/** Compares every figure with itself over time. Figures without a tolerance are not judged. */
export function judge(moments: readonly Moment[], warmUpMs: number): readonly JudgedFigure[] {
  const names = new Map(
    moments.flatMap(({ figures }) => figures.map((figure) => [`${figure.part}/${figure.quantity}`, figure] as const)),
  );
  return [...names.values()]
    .map(({ part, quantity }) => {
      const samples = moments.flatMap(({ atMs, figures }) =>
        figures
          .filter((figure) => figure.part === part && figure.quantity === quantity)
          .map(({ value }) => ({ atMs, value })),
      );
      const tolerance = TOLERANCES[quantity];
      const flatness = flatnessOf(samples, warmUpMs, tolerance ?? ANY);
      return { part, quantity, ...flatness, ...(tolerance ? {} : { verdict: 'not judged' as const }) };
    })
    .sort((a, b) => a.part.localeCompare(b.part) || a.quantity.localeCompare(b.quantity));
}

/** Returns a header, and one line for each figure. */
export function tableOf(figures: readonly JudgedFigure[]): readonly string[] {
  const rows = figures.map(({ part, quantity, first, last, slopePerHour, tolerated, verdict }) => {
    return [`${part}, ${quantity}`, ...[first, last, slopePerHour, tolerated].map(numberText), verdict];
  });
  const lines = [['figure', 'first third', 'last third', 'per hour', 'tolerated', 'verdict'], ...rows];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

function numberText(value: number): string {
  return Number.isFinite(value) ? value.toFixed(Math.abs(value) < 10 ? 2 : 0) : '-';
}
