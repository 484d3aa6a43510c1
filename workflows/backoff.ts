/**
 * Backoff for polls in workflows. The delay grows by a quarter after every poll without progress, and drops back to the
 * shortest delay after progress. It grows because every poll adds a few events to the workflow's history.
 */

/** The shortest and the longest delay, in milliseconds. */
export interface BackoffBounds {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/**
 * Creates the backoff of one series of polls.
 *
 * @returns a function that computes the delay before the next poll: the requested delay or the backoff, whichever is
 *   longer. Milliseconds.
 */
export function backoff({ shortestMs, longestMs }: BackoffBounds): (requestedMs: number, progress: boolean) => number {
  let delayMs = shortestMs;
  return (requestedMs, progress) => {
    delayMs = progress ? shortestMs : Math.min(longestMs, delayMs * 1.25);
    return Math.max(requestedMs, delayMs);
  };
}
