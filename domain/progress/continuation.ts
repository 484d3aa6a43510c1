/** Says when moves continue in a later window. Views show this after an expected end. */
import type { Counts } from '../companies/counts';
import { isAlwaysOpen, windowOccurrences, type Window } from '../planning/windows';
import type { Forecast } from './forecast';

/** Times are ISO 8601, UTC. */
export interface Continuation {
  /** When the first window of the forecast closes; null if the forecast begins outside the windows. */
  readonly closesAt: string | null;
  /** When the next window opens: after `closesAt`, or after the forecast begins if `closesAt` is null. */
  readonly opensAt: string;
  /** True if no move has begun, because the first window has not opened yet. */
  readonly isBeforeFirst?: true;
}

/**
 * Returns when moves continue if the forecast ends after the next window has opened. Null if the forecast ends before
 * that, because only syncs are left once the window has closed. Also null if the forecast has no end, if moves can
 * begin at any time, or if all moves of the forecast have begun, because they need no window.
 *
 * @param now ISO 8601, UTC
 */
export function continuationOf(
  {
    windows,
    counts,
  }: { readonly windows: readonly Window[]; readonly counts: Pick<Counts, 'importing' | 'syncing' | 'moved'> },
  { beginsAt, ends, companies }: Pick<Forecast, 'beginsAt' | 'ends' | 'companies'>,
  now: string,
): Continuation | null {
  if (ends === null || isAlwaysOpen(windows) || companies <= counts.importing + counts.syncing) return null;
  const from = beginsAt ?? now;
  const [first, second] = windowOccurrences(windows, from);
  if (first === undefined) return null;
  if (Date.parse(first.opensAt) > Date.parse(from))
    return ends.latest > first.opensAt ? { closesAt: null, opensAt: first.opensAt } : null;
  if (second === undefined || ends.latest <= second.opensAt) return null;
  const isBeforeFirst = beginsAt !== null && counts.moved === 0;
  return { closesAt: first.closesAt, opensAt: second.opensAt, ...(isBeforeFirst && { isBeforeFirst }) };
}

/** Describes a continuation after an expected end; empty if there is none. @param timeText formats a time */
export function continuationText(continuation: Continuation | null, timeText: (iso: string) => string): string {
  if (continuation === null) return '';
  const { closesAt, opensAt, isBeforeFirst } = continuation;
  if (closesAt !== null && isBeforeFirst)
    return `; the first window closes ${timeText(closesAt)}, and more moves begin ${timeText(opensAt)}`;
  const closes = closesAt === null ? '' : `the window closes ${timeText(closesAt)}, and `;
  return `; ${closes}moves continue ${timeText(opensAt)}`;
}
