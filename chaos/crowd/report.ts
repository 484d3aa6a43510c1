/** The result of the small migrations in the crowd, and the lines that report it. */
import { medianOf } from '../soak/flatness';
import type { SmallMove } from './small-move';

export interface CrowdResult {
  readonly migrations: number;
  /** The small migrations that ran while nothing else was running. */
  readonly alone: readonly SmallMove[];
  /** The small migrations that ran in the crowd. */
  readonly crowded: readonly SmallMove[];
  /** The median of `crowded`, divided by the median of `alone`. */
  readonly ratio: number;
  /** Companies per second that the rest of the crowd moved during the measurement. */
  readonly crowdRate: number;
  /** The one-minute load average at the end of each measurement, and the number of CPUs. */
  readonly load: { readonly alone: number; readonly crowded: number; readonly cpus: number };
}

/** The largest ratio that is accepted. */
export const TARGET = 2;

export const medianTime = (moves: readonly SmallMove[]): number => medianOf(moves.map(({ tookMs }) => tookMs));

export function crowdLines({ migrations, alone, crowded, ratio, crowdRate, load }: CrowdResult): readonly string[] {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const times = (moves: CrowdResult['alone']): string => moves.map(({ tookMs }) => seconds(tookMs)).join(', ');
  return [
    `alone: ${seconds(medianTime(alone))} (median of ${times(alone)}), load ${load.alone.toFixed(1)}`,
    `among ${migrations - 1} migrations: ${seconds(medianTime(crowded))} (median of ${times(crowded)}), ` +
      `load ${load.crowded.toFixed(1)} on ${load.cpus} CPUs, while the others moved ${crowdRate.toFixed(1)} companies/s`,
    `a small migration takes ${ratio.toFixed(2)} times as long in the crowd; the target is at most ${TARGET} times`,
  ];
}
