/** Says when moves continue in a later window. Every view that shows an expected end calls it. */
import type { Counts } from '../companies/counts';
import type { Window } from '../planning/windows';
import { isAlwaysOpen, windowOccurrences } from '../planning/windows';
import type { Forecast } from './forecast';

/** Times are ISO 8601, UTC. */
export interface Continuation {
  /** When the window closes in which companies move first; null if no window is open. */
  readonly closesAt: string | null;
  /** When the next window after that opens. */
  readonly opensAt: string;
}

/**
 * Returns when moves continue if the forecast ends in a later window than the current or the first one; null if it ends
 * before the next window opens, because only syncs then last past the close. Also null if moves can begin at any time,
 * or if the moves of all remaining companies have begun, because they need no window.
 *
 * @param now ISO 8601, UTC
 */
export function continuationOf(
  { windows, counts }: { readonly windows: readonly Window[]; readonly counts: Pick<Counts, 'importing' | 'syncing'> },
  { beginsAt, ends, companies }: Pick<Forecast, 'beginsAt' | 'ends' | 'companies'>,
  now: string,
): Continuation | null {
  if (ends === null || isAlwaysOpen(windows) || companies <= counts.importing + counts.syncing) return null;
  const from = beginsAt ?? now;
  const [first, second] = windowOccurrences(windows, from);
  if (first === undefined) return null;
  if (Date.parse(first.opensAt) > Date.parse(from))
    return ends.latest > first.opensAt ? { closesAt: null, opensAt: first.opensAt } : null;
  return second !== undefined && ends.latest > second.opensAt
    ? { closesAt: first.closesAt, opensAt: second.opensAt }
    : null;
}

/** Describes a continuation after an expected end; empty if there is none. @param timeText formats a time */
export function continuationText(continuation: Continuation | null, timeText: (iso: string) => string): string {
  if (continuation === null) return '';
  const { closesAt, opensAt } = continuation;
  const closes = closesAt === null ? '' : `the window closes ${timeText(closesAt)}, and `;
  return `; ${closes}moves continue ${timeText(opensAt)}`;
}
