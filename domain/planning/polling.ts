/** How often a company that syncs is looked at: each look waits in proportion to how long the sync has taken. */

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 5 * 60_000;

/** How long after its sync began, or after a look, the next look comes. Milliseconds. */
export function pollDelayMs(syncingForMs: number): number {
  return Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, syncingForMs / 4));
}

/** Looks until a sync of this length is seen to be over. */
export function pollsDuring(syncMs: number): number {
  let looks = 1;
  for (let atMs = pollDelayMs(0); atMs < syncMs; atMs += pollDelayMs(atMs)) looks += 1;
  return looks;
}
