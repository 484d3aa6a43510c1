/**
 * The forecast: when the remaining companies will have been moved. It is the only source of an expected end. Every view
 * calls it with the current time, so that no view shows an end that has passed.
 *
 * - Before the moves begin, the forecast is the estimate of the whole move, counted from the proposed start.
 * - While companies are moving, the forecast follows from the recent throughput. If too few companies have been moved
 *   recently, it follows from the estimate, scaled to the companies that are left.
 * - Otherwise there is no forecast, because the end depends on a person, on an outage or on deferred companies. Views
 *   then show only how long the work takes (`remainingWork`).
 */
import { countOpen, countUndeferred, type Counts } from '../companies/counts';
import { isOver } from '../migration/terminated';
import { timeAtPace } from '../planning/pacing';
import { expectedEnd, isMeasured, perMinute, withinLimit, type Throughput } from '../planning/throughput';
import { endWithin, nextMove, type Window } from '../planning/windows';
import { hoursText, toFullMinute } from '../text/sentences';
import type { Progress } from './progress';
import { isBeforeSyncIsOff, type Step } from '../migration/steps';

/** When the moves end. ISO 8601, UTC; both times are full minutes, and later than the time of the forecast. */
interface Ends {
  readonly earliest: string;
  readonly latest: string;
}

export interface Forecast {
  /** Number of companies that the forecast covers. */
  readonly companies: number;
  /** False if other companies are deferred or wait for people, so that the migration ends later. */
  readonly isComplete: boolean;
  /** When the next move begins. ISO 8601, UTC; null if companies are moving, or moves can begin now. */
  readonly beginsAt: string | null;
  /**
   * Null if there are windows and the moves in them take more than a year, or if the moves need a further window while
   * the windows are paused.
   */
  readonly ends: Ends | null;
  readonly basis: 'throughput' | 'estimate';
  /** The longest time for which a company's data can be out of date. Milliseconds; null if `ends` is null. */
  readonly staleMs: number | null;
}

/** How long the remaining moves take, without waiting for windows or people. */
export interface RemainingWork {
  readonly companies: number;
  readonly lowMs: number;
  readonly highMs: number;
}

type ForecastInput = Pick<
  Progress,
  | 'route'
  | 'state'
  | 'step'
  | 'steps'
  | 'waitingFor'
  | 'counts'
  | 'windows'
  | 'estimate'
  | 'proposal'
  | 'firstCompany'
  | 'outage'
  | 'pause'
  | 'companiesPerMinute'
>;

/**
 * Scales the estimate to the companies that are still open, at no more companies per minute than the limit allows.
 * Leaves out deferred companies, because their wait can be much longer than their move. Null if there is no estimate,
 * no other company is open, or the migration or its workflow has ended.
 */
export function remainingWork(
  progress: Pick<Progress, 'state' | 'counts' | 'estimate' | 'companiesPerMinute'>,
): RemainingWork | null {
  const { state, counts } = progress;
  return isOver(state) ? null : workOf(progress, countOpen(counts) - (counts.deferred ?? 0));
}

/** Scales the estimate like {@link remainingWork}, but includes deferred companies. Null if no company is open. */
export function workOfOpen(progress: Parameters<typeof remainingWork>[0]): RemainingWork | null {
  return isOver(progress.state) ? null : workOf(progress, countOpen(progress.counts));
}

/**
 * Returns when the remaining companies will have been moved.
 *
 * @param throughput the recent throughput; null if it is unknown
 * @param now ISO 8601, UTC
 * @returns null if the end depends on people, on an outage or only on deferred companies, if nothing is left, or if
 *   there is no estimate
 */
export function forecastOf(progress: ForecastInput, throughput: Throughput | null, now: string): Forecast | null {
  const { state, step, counts, pause, outage } = progress;
  if (isOver(state) || pause !== null || outage !== null) return null;
  if (step === 'complete-migration') return state === 'running' ? whileMoving(progress, throughput, now) : null;
  return countOpen(counts) === 0 ? null : beforeMoves(progress, now);
}

/** Forecasts a move that has not begun: the estimate from the proposed start or from the first window after it. */
function beforeMoves(progress: ForecastInput, now: string): Forecast | null {
  const { step, counts, windows, estimate, proposal, firstCompany, waitingFor } = progress;
  const work = workOf(progress, countOpen(counts));
  if (proposal === null || estimate === null || work === null || firstCompany !== null) return null;
  const isLate = !isAfter(proposal.startAt, now);
  // Once the start has passed, the end depends on people while a step before step 5 is open or a person has to act.
  if (isLate && (step !== 'migrate-first-company' || waitingFor.roles.length > 0)) return null;
  const beginsAt = nextMove(windows, isLate ? now : proposal.startAt);
  if (beginsAt === null || !isAfter(beginsAt, now)) return null;
  const isOfAll = estimate.volume.companies === work.companies;
  const isPlanned =
    !isLate && isOfAll && estimate.ends !== null && estimate.ends.earliest >= beginsAt && !isTooShort(progress);
  const ends = isPlanned ? estimate.ends : endsAfter(windows, beginsAt, work);
  const covers = { companies: work.companies, isComplete: true, beginsAt };
  // Data can be out of date from the proposed start, because the client can have confirmed companies by then, even if
  // the next window opens later.
  const staleFrom = earlier(beginsAt, isLate ? now : proposal.startAt);
  return forecast(progress, { ...covers, ends, basis: 'estimate' }, now, staleFrom);
}

/**
 * Forecasts the companies that are moving or can be moved without anyone supplying anything. Leaves out deferred
 * companies, because a company can be deferred again and again. There is no forecast if no other company is left.
 */
function whileMoving(progress: ForecastInput, throughput: Throughput | null, now: string): Forecast | null {
  const { counts } = progress;
  const companies = countUndeferred(counts);
  if (companies <= 0) return null;
  // If the moves of all these companies have begun, the windows do not matter, because these moves end outside the
  // windows too.
  const windows = companies <= counts.importing + counts.syncing ? [] : progress.windows;
  const opensAt = nextMove(windows, now);
  const beginsAt =
    opensAt !== null && isAfter(opensAt, now) && counts.importing + counts.syncing === 0 ? opensAt : null;
  const covers = { companies, isComplete: companies === countOpen(counts), beginsAt };
  if (throughput && isMeasured(throughput)) {
    const end = expectedEnd(withinLimit(throughput, progress.companiesPerMinute ?? null), companies, windows, now);
    const ends = end === null ? null : { earliest: end, latest: end };
    return forecast(progress, { ...covers, ends, basis: 'throughput' }, now);
  }
  const work = workOf(progress, companies);
  return work && forecast(progress, { ...covers, ends: endsAfter(windows, now, work), basis: 'estimate' }, now);
}

/** The ledger's current figures. The workflow's are older, so they would give an end that is too late. */
export interface LiveFigures extends Throughput {
  readonly counts: Pick<
    Counts,
    | 'waiting'
    | 'importing'
    | 'syncing'
    | 'outcomeUnknown'
    | 'unconfirmed'
    | 'withoutCredential'
    | 'heldBack'
    | 'deferred'
  >;
}

/**
 * Returns the forecast from what the ledger says now. Every command that shows the end of a forecast calls it, so that
 * all of them show the same end.
 *
 * @param live null if the ledger was not read: the forecast then follows from the workflow's counts
 * @param now ISO 8601, UTC
 * @returns see `forecastOf`
 */
export function liveForecastOf(
  progress: ForecastInput & Pick<Progress, 'throughput'>,
  live: LiveFigures | null,
  now: string,
): Forecast | null {
  return forecastOf(withLiveCounts(progress, live), live ?? progress.throughput, now);
}

/** Returns the progress with the ledger's counts; unchanged if `live` is null. */
export function withLiveCounts<P extends Pick<Progress, 'counts'>>(
  progress: P,
  live: Pick<LiveFigures, 'counts'> | null,
): P {
  return live === null ? progress : { ...progress, counts: { ...progress.counts, ...live.counts } };
}

/** Returns the words that except the deferred companies, which a forecast leaves out; empty if there are none. */
export const exceptDeferred = ({ deferred = 0 }: Counts): string =>
  deferred === 0 ? '' : ', apart from deferred companies';

/**
 * Returns the recent rate in companies per minute, without the time in which no company was moving. Null if the
 * migration is not moving companies, or if too few were moved recently.
 */
export function recentRate(
  { state, step, companiesPerMinute = null }: Pick<Progress, 'state' | 'step' | 'companiesPerMinute'>,
  throughput: Throughput | null,
): number | null {
  const isMoving = state === 'running' && step === 'complete-migration';
  if (!isMoving || throughput === null || !isMeasured(throughput)) return null;
  return perMinute(withinLimit(throughput, companiesPerMinute));
}

/** The facts on which the remaining work depends. */
type WorkInput = Pick<Progress, 'counts' | 'estimate' | 'companiesPerMinute'>;

function workOf(progress: WorkInput, companies: number): RemainingWork | null {
  const { counts, companiesPerMinute = null } = progress;
  const work = estimatedWork(progress, companies);
  if (work === null) return null;
  const lowestMs = Math.round(timeAtPace(companies - counts.importing - counts.syncing, companiesPerMinute));
  if (work.lowMs >= lowestMs) return work;
  // The estimate is too short, because the limit was set later. At the limit, beginning the moves takes `lowestMs`. The
  // last companies still sync afterwards; the estimate does not contain this time separately, so all of it is added.
  return { companies, lowMs: lowestMs + work.lowMs, highMs: lowestMs + work.highMs };
}

/** Scales the estimate to this number of companies. Ignores limits that were changed after the estimate was made. */
function estimatedWork({ estimate }: WorkInput, companies: number): RemainingWork | null {
  if (estimate === null || estimate.volume.companies === 0 || companies <= 0) return null;
  const share = companies / estimate.volume.companies;
  return { companies, lowMs: Math.round(estimate.lowMs * share), highMs: Math.round(estimate.highMs * share) };
}

/** Returns whether the moves take longer than the estimate, because the limit of companies per minute was set later. */
function isTooShort(progress: WorkInput): boolean {
  const companies = countOpen(progress.counts);
  return workOf(progress, companies)?.lowMs !== estimatedWork(progress, companies)?.lowMs;
}

function endsAfter(windows: readonly Window[], from: string, { lowMs, highMs }: RemainingWork): Ends | null {
  const [earliest, latest] = [endWithin(windows, from, lowMs), endWithin(windows, from, highMs)];
  return earliest === null || latest === null ? null : { earliest, latest };
}

/**
 * Rounds the ends up to full minutes after `now`, and adds how long data is out of date by the latest end.
 *
 * @param staleFrom when data begins to be out of date; used if {@link staleSince} returns null
 */
function forecast(
  progress: ForecastInput,
  given: Omit<Forecast, 'staleMs'>,
  now: string,
  staleFrom = given.beginsAt ?? now,
): Forecast {
  const ends = given.ends && {
    earliest: nextMinute(given.ends.earliest, now),
    latest: nextMinute(given.ends.latest, now),
  };
  const since = staleSince(progress) ?? staleFrom;
  return { ...given, ends, staleMs: ends && Math.max(0, Date.parse(ends.latest) - Date.parse(since)) };
}

/**
 * Returns the time from which the data of a company can be out of date; null if it is unknown, or if no open company is
 * confirmed. If the estimate was made before the confirmations, returns the time when step 4 opened; in self-service,
 * when step 1 opened, because syncing is off from the start.
 *
 * Checks the counts first, because they can be newer than the estimate: the company that was confirmed then can have
 * been left out since. The counts do not show whether a held-back company is confirmed; only the estimate does.
 */
export function staleSince({ route, counts, estimate, step, steps }: ForecastInput): string | null {
  if (countOpen(counts) <= counts.unconfirmed) return null;
  const known = estimate?.volume.staleSince ?? null;
  if (known !== null) return known;
  const openedAt = (asked: Step): string | null => steps.find((each) => each.step === asked)?.openedAt ?? null;
  if (route === 'self-service') return openedAt('supply-details');
  const isConfirmed = countOpen(counts) > counts.unconfirmed + counts.heldBack;
  if (!isConfirmed || isBeforeSyncIsOff(step)) return null;
  return openedAt('disable-syncing');
}

/**
 * Returns how long the data of a company can be out of date: `up to 6 hours`. While no company is confirmed, `staleMs`
 * is counted from a proposed start in the future: `up to 6 hours after the start`. Data is then out of date for longer
 * if the client turns off syncing before the start.
 *
 * @param staleMs of a forecast
 * @param now ISO 8601, UTC
 */
export function longestStaleText(progress: ForecastInput, staleMs: number, now: string): string {
  const longest = `up to ${hoursText(staleMs / HOUR_MS)}`;
  return isStaleFromStart(progress, now) ? `${longest} after the start` : longest;
}

/** Returns whether `staleMs` of a forecast is counted from a proposed start in the future. */
export function isStaleFromStart(progress: ForecastInput, now: string): boolean {
  const { proposal } = progress;
  return proposal !== null && isAfter(proposal.startAt, now) && staleSince(progress) === null;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Returns the first full minute that is not before the instant and is after `now`. */
function nextMinute(instant: string, now: string): string {
  const next = new Date((Math.floor(Date.parse(now) / MINUTE_MS) + 1) * MINUTE_MS).toISOString();
  const minute = toFullMinute(instant);
  return isAfter(next, minute) ? next : minute;
}

const earlier = (one: string, other: string): string => (isAfter(one, other) ? other : one);
const isAfter = (one: string, other: string): boolean => Date.parse(one) > Date.parse(other);
