/**
 * Waits that grow while nothing happens: every look costs a few events of the history.
 *
 * @returns how long to wait: at least as long as asked for, and longer each time while nothing moves. Milliseconds.
 */
export function backoff(bounds: {
  readonly shortestMs: number;
  readonly longestMs: number;
}): (askedMs: number, moved: boolean) => number {
  let atLeastMs = bounds.shortestMs;
  return (askedMs, moved) => {
    atLeastMs = moved ? bounds.shortestMs : Math.min(bounds.longestMs, atLeastMs * 1.25);
    return Math.max(askedMs, atLeastMs);
  };
}
