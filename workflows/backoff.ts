/**
 * Backoff for polls in workflows: the wait grows by a quarter after every poll that found no progress, and is short
 * again after progress. Every poll adds a few events to the workflow's history, so a long wait must not fill it.
 */

/** All times are milliseconds. */
export interface BackoffBounds {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/**
 * Creates the delays of one series of polls.
 *
 * @returns a function for the time until the next poll: the requested time, or the backoff where that is longer
 */
export function backoff({ shortestMs, longestMs }: BackoffBounds): (requestedMs: number, progress: boolean) => number {
  let delayMs = shortestMs;
  return (requestedMs, progress) => {
    delayMs = progress ? shortestMs : Math.min(longestMs, delayMs * 1.25);
    return Math.max(requestedMs, delayMs);
  };
}
