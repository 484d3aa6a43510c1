/** Decides whether a figure grows: compares its samples in the first and in the last third of the measured time. */

export interface Sample {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly value: number;
}

/** From the first third of the time to the last, a figure may grow by the larger of these two amounts. */
export interface Tolerance {
  /** A share of the median in the first third, for example 0.1. */
  readonly share: number;
  /** In the unit of the figure. */
  readonly atLeast: number;
}

export interface Flatness {
  readonly verdict: 'flat' | 'grows' | 'too short';
  /** The median of the samples in the first third of the time after the warm-up. NaN without samples. */
  readonly first: number;
  /** The median of the samples in the last third of that time. NaN without samples. */
  readonly last: number;
  /** By how much `last` may exceed `first`. */
  readonly tolerated: number;
  /** The median slope between all pairs of samples. NaN with fewer than two samples. */
  readonly slopePerHour: number;
}

const HOUR_MS = 3_600_000;
/** Growth over less time cannot be told from noise. */
const MIN_MEASURED_MS = 15 * 60_000;

/**
 * Judges samples, which are in chronological order.
 *
 * @param warmUpMs samples within this time after the first one are ignored, because caches and pools are still filling
 */
export function flatnessOf(samples: readonly Sample[], warmUpMs: number, tolerance: Tolerance): Flatness {
  const from = (samples[0]?.atMs ?? 0) + warmUpMs;
  const measured = samples.filter(({ atMs }) => atMs >= from);
  const fromMs = measured[0]?.atMs ?? 0;
  const tookMs = (measured.at(-1)?.atMs ?? 0) - fromMs;
  const isTooShort = tookMs < MIN_MEASURED_MS;
  const third = (isIn: (share: number) => boolean): number =>
    medianOf(
      measured.filter(({ atMs }) => isIn(tookMs === 0 ? 0 : (atMs - fromMs) / tookMs)).map(({ value }) => value),
    );
  const first = third((share) => share <= 1 / 3);
  const last = third((share) => share >= 2 / 3 || tookMs === 0);
  const tolerated = Math.max(tolerance.share * first, tolerance.atLeast);
  const grows = last - first > tolerated;
  const verdict = isTooShort ? 'too short' : grows ? 'grows' : 'flat';
  return { verdict, first, last, tolerated, slopePerHour: slopeOf(measured) * HOUR_MS };
}

/** Returns the Theil-Sen estimate of the slope, per millisecond. Single outliers hardly change it. */
function slopeOf(samples: readonly Sample[]): number {
  return medianOf(
    samples.flatMap((one, index) =>
      samples.slice(index + 1).map((other) => (other.value - one.value) / (other.atMs - one.atMs)),
    ),
  );
}

/** @returns NaN for an empty list; the mean of the two middle values if the number of values is even */
export function medianOf(values: readonly number[]): number {
  const inOrder = [...values].sort((a, b) => a - b);
  const middle = inOrder.length / 2;
  const [low = NaN, high = NaN] = [inOrder[Math.ceil(middle) - 1], inOrder[Math.floor(middle)]];
  return (low + high) / 2;
}
