/** The companies that will be tried again automatically, for example after a `retry` decision. */
import { isOver } from '../migration/terminated';
import { nextMove } from '../planning/windows';
import { momentText, namedCompanies } from '../text/sentences';
import type { Progress } from './progress';
import { areClosedUntilResumed } from './remaining-moves';
import { isForPausedWindows } from './waiting-for';

/**
 * Says which companies will be tried again, and when: `1 company (M-047) will be tried again in the window from ...`.
 * In step 5, omits the first company if others follow it.
 *
 * @param now ISO 8601, UTC
 * @param timeText formats a time; by default with its time zone
 * @param areWindowsPaused see {@link resumptionText}
 * @returns null if there are none, or if the migration or its workflow has ended
 */
export function retriedText(
  progress: Pick<
    Progress,
    'state' | 'counts' | 'window' | 'windows' | 'waitingFor' | 'outage' | 'areWindowsPaused' | 'noFurtherWindow'
  > &
    FirstChoice,
  now: string,
  timeText: (iso: string) => string = momentText,
  areWindowsPaused = progress.areWindowsPaused || areClosedUntilResumed(progress, now),
): string | null {
  const { retried = 0, firstRetried } = progress.counts;
  if (retried === 0 || isOver(progress.state)) return null;
  const references = firstRetried ?? [];
  const first = firstReference(progress);
  const following = references.filter((reference) => reference !== first);
  const count = retried - references.length + following.length;
  const [companies, named] = count === 0 ? [retried, references] : [count, following];
  // The first company could also be one of those that are not named.
  const isFirstKnown = following.length < references.length || references.length === retried;
  const resumption = resumptionText(progress, areWindowsPaused);
  const once = first !== null && count > 0 && isFirstKnown ? onceFirstIsApproved(resumption) : resumption;
  const when = dueTryText({ windows: progress.windows, once }, now, timeText);
  return `${namedCompanies(companies, named)} will be tried again ${when}`;
}

/** The facts that show which company moves first. */
type FirstChoice = Pick<Progress, 'step' | 'firstCompany' | 'requestedFirst' | 'pause'>;

/**
 * Returns the company that moves before all others in step 5; null if none is chosen, or in another step. Also null if
 * the migration has paused itself, because another company can be chosen once it is resumed.
 */
function firstReference({ step, firstCompany, requestedFirst, pause }: FirstChoice): string | null {
  if (step !== 'migrate-first-company' || (pause?.stopReason ?? null) !== null) return null;
  return (firstCompany ?? requestedFirst)?.reference ?? null;
}

/**
 * Adds the approval of the first company to what has to happen before companies are tried, if all of them follow it and
 * are named.
 *
 * @param once the result of {@link resumptionText}
 */
export function onceTheyFollow(
  once: string | null,
  progress: FirstChoice,
  { companies, references }: { readonly companies: number; readonly references: readonly string[] },
): string | null {
  const first = firstReference(progress);
  const follow = first !== null && !references.includes(first) && references.length === companies;
  return follow ? onceFirstIsApproved(once) : once;
}

/** Adds the approval of the first company to what has to happen before a company is tried. */
export function onceFirstIsApproved(once: string | null): string {
  return once === null ? 'once the first company is approved' : `${once} and the first company is approved`;
}

/** The facts that determine when a company is tried again, apart from its own delay. */
export interface TryTimes extends Pick<Progress, 'windows'> {
  /** The result of {@link resumptionText}, or of {@link onceTheyFollow}. */
  readonly once: string | null;
}

/**
 * Returns what has to happen before any company is tried, as a clause; null if nothing stops the migration.
 *
 * @param areWindowsPaused true if no window is open, and the Schedule is known to be paused; by default, when the
 *   migration last looked for a window, which it does not do during a pause
 */
export function resumptionText(
  progress: Pick<Progress, 'state' | 'waitingFor' | 'outage' | 'areWindowsPaused'>,
  areWindowsPaused = progress.areWindowsPaused,
): string | null {
  const { state, waitingFor, outage } = progress;
  if (areWindowsPaused || isForPausedWindows(waitingFor))
    return state === 'paused' ? 'once the migration and its windows are resumed' : 'once the windows are resumed';
  if (state === 'paused') return ONCE_RESUMED;
  return outage === null ? null : 'once the outage is over';
}

/**
 * The result of {@link resumptionText} during a pause, unless the windows are paused too. Exported for callers that
 * read the pause from the ledger.
 */
export const ONCE_RESUMED = 'once the migration is resumed';

/**
 * Returns when a company that is due will be tried: once the migration continues, in the next window, or `now`.
 *
 * @param now ISO 8601, UTC
 */
export function dueTryText({ windows, once }: TryTimes, now: string, timeText: (iso: string) => string): string {
  if (once !== null) return onceText(once, windows, now);
  const opensAt = nextMove(windows, now);
  if (opensAt === null) return 'in the next window';
  return Date.parse(opensAt) > Date.parse(now) ? `in the window from ${timeText(opensAt)}` : 'now';
}

/**
 * Describes the next try of a company with a delay. It begins when the delay has passed, a window is open, and nothing
 * stops the migration.
 *
 * @param retryAt when the delay has passed
 * @param timeText formats a time
 */
export function delayedTryText(
  retryAt: Date,
  { windows, once }: TryTimes,
  now: Date,
  timeText: (iso: string) => string,
): string {
  if (once !== null) return `next try ${onceText(once, windows, now.toISOString())}`;
  const due = retryAt > now ? retryAt : now;
  const at = nextMove(windows, due.toISOString());
  if (at === null) return 'next try in the next window';
  return Date.parse(at) > now.getTime() ? `next try ${timeText(at)}` : 'next try is due now';
}

/** Adds to `once` that a window must be open, unless moves can begin now. */
function onceText(once: string, windows: TryTimes['windows'], now: string): string {
  const opensAt = nextMove(windows, now);
  const isOpen = opensAt !== null && Date.parse(opensAt) <= Date.parse(now);
  return isOpen ? once : `${once} and a window is open`;
}
