/** Estimates how long a migration will take, as a range, from the volume of data and the speed of the service. */
import { toFullMinute } from '../text/sentences';
import type { MigrationLimits } from './limits';
import { paceOf, pollsDuring, timeAtPace } from './pacing';
import { perMinute, withinLimit, type Throughput } from './throughput';
import { endWithin } from './windows';

/** The volume that is still to be moved. */
export interface Volume {
  readonly companies: number;
  /**
   * Records of these companies together: the sum of the manifest's numbers or, if some rows give none, the supplied
   * total if it is larger.
   */
  readonly records: number;
  /** Companies for which the manifest gives no number of records; 0 if the total number was supplied. */
  readonly companiesWithoutVolume: number;
  /** Records of the largest company for which the manifest gives a number. */
  readonly largestCompany: number;
  /** Companies of the largest token family, which move one at a time; 0 if there is no family. */
  readonly largestFamily: number;
  /**
   * The earliest time at which the client confirmed that syncing was off for a company that is still open. Its data has
   * been out of date since then. ISO 8601, UTC; null if no open company is confirmed.
   */
  readonly staleSince: string | null;
}

/** The speed of the service. */
export interface Speed {
  /** Time from the claim of a company to the start of its syncs. Milliseconds. */
  readonly importMs: number;
  /** The part of a company's sync time that does not depend on its size. Milliseconds. */
  readonly syncBaseMs: number;
  /** Additional sync time per record. Milliseconds. */
  readonly msPerRecord: number;
}

/** The volume given in a manifest's rows. */
export type ManifestVolume = Omit<Volume, 'staleSince'>;

/**
 * Returns the volume of a manifest before any of its companies has been frozen or moved.
 *
 * @param totalRecords records of all companies together, used if some rows give no number; absent if unknown
 */
export function volumeOf(manifest: ManifestVolume, totalRecords?: number): Volume {
  const { companies, records, companiesWithoutVolume, largestCompany, largestFamily } = manifest;
  return {
    companies,
    records: companiesWithoutVolume > 0 ? Math.max(records, totalRecords ?? 0) : records,
    companiesWithoutVolume: totalRecords === undefined ? companiesWithoutVolume : 0,
    largestCompany,
    largestFamily,
    staleSince: null,
  };
}

/** Where a speed comes from: a cautious assumption, an earlier migration on the same platform, or this migration. */
export type SpeedBasis = 'assumed' | 'platform' | 'migration';

/** A speed, and where it comes from. */
export interface SpeedEstimate {
  readonly speed: Speed;
  readonly basis: SpeedBasis;
  /** Number of companies on which it was measured; 0 if it is assumed. */
  readonly companies: number;
}

export interface Estimate {
  readonly volume: Volume;
  /** Number of requests to the service. */
  readonly requests: number;
  /** The least time that the work is likely to take, without waiting for windows. Milliseconds. */
  readonly lowMs: number;
  /** The most time that the work is likely to take, without waiting for windows. Milliseconds. */
  readonly highMs: number;
  /**
   * When the migration ends if moves begin only in the windows. The time is counted from the proposed start if that
   * start is in the future, otherwise from the time of the estimate. Null if there are windows and the moves in them
   * take more than a year, or if the start or the limits have changed since the estimate.
   */
  readonly ends: { readonly earliest: string; readonly latest: string } | null;
  /**
   * The longest time that a company's data can be out of date: from the first freeze (or the start) to the latest end.
   * Hours, not rounded; null if `ends` is null.
   */
  readonly staleHours: number | null;
  readonly basis: SpeedBasis;
  readonly measuredOn: number;
}

/** Returns an estimate without `ends` and `staleHours`, which belong to another start or other limits. */
export function withoutEnds(estimate: Estimate | null): Estimate | null {
  return estimate && { ...estimate, ends: null, staleHours: null };
}

/**
 * Returns the ends and the hours of out-of-date data as the forecast showed them to the people who approved: the ends
 * rounded up to full minutes, and the hours until the rounded end. Null if the estimate has no ends.
 */
export function approvedEnds({
  startAt,
  estimate: { volume, ends, staleHours },
}: PlannedEstimate): (NonNullable<Estimate['ends']> & { readonly staleHours: number }) | null {
  if (ends === null || staleHours === null) return null;
  const [earliest, latest] = [toFullMinute(ends.earliest), toFullMinute(ends.latest)];
  // Limit the hours, because earlier workers rounded them up. Data is not out of date before the first confirmation,
  // or before the start if no company was confirmed.
  const atMost = hoursBetween(volume.staleSince ?? startAt, latest);
  return { earliest, latest, staleHours: Math.min(staleHours + hoursBetween(ends.latest, latest), atMost) };
}

/** A proposed start, and the estimate that was made for it. */
export interface PlannedEstimate {
  readonly startAt: string;
  /** When the first window after the start opens. Absent if the start is in a window, or if there are no windows. */
  readonly opensAt?: string;
  readonly estimate: Estimate;
}

/** The speed that is assumed before anything has been measured. */
export const ASSUMED_SPEED: SpeedEstimate = {
  speed: { importMs: 2_000, syncBaseMs: 30_000, msPerRecord: 20 },
  basis: 'assumed',
  companies: 0,
};

/** Records of a company for which the manifest gives no number. */
const ASSUMED_RECORDS = 1_000;
/** The likely time is divided and multiplied by this factor. An assumption needs a wider range than a measurement. */
const SPREAD: Readonly<Record<SpeedBasis, number>> = { assumed: 3, platform: 2, migration: 1.5 };
/** A speed that was measured on fewer companies is not reliable: the first company, for example, moves alone. */
export const MIN_COMPANIES_MEASURED = 5;
/** Requests that create the company and the connection, authorize it, and start the syncs. */
const REQUESTS_PER_IMPORT = 4;
/** Requests that read the sync status and the connection. */
const REQUESTS_PER_POLL = 2;
/** Requests that read the records and the sync settings. */
const REQUESTS_PER_VERIFICATION = 2;
/** The service's rate limit per API key, from its specification. */
const REQUESTS_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface EstimateInput {
  readonly volume: Volume;
  readonly limits: Pick<MigrationLimits, 'slicesAtOnce' | 'companiesPerSliceAtOnce' | 'companiesPerMinute' | 'windows'>;
  readonly speedEstimate: SpeedEstimate;
  /** The migration's recent throughput; null or absent before its companies have moved. */
  readonly throughput?: Throughput | null;
  /** When the migration starts or continues. ISO 8601, UTC. */
  readonly from: string;
}

/**
 * Estimates the remaining time. Companies are imported in parallel, but companies of one token family are imported one
 * at a time. Syncs overlap, so only the longest sync adds to the total.
 *
 * Once many companies have moved, the imports are expected to go on at their throughput. It already includes the
 * waits for the service's rate limit, of which the number of requests gives only a rough idea: while many companies
 * sync at the same time, syncs take longer, but are polled less often.
 */
export function estimate({ volume, limits, speedEstimate, throughput = null, from }: EstimateInput): Estimate {
  const { speed, basis, companies: measuredOn } = speedEstimate;
  const requests = volume.companies * requestsPerCompany(volume, speed);
  const syncMs = volume.companies === 0 ? 0 : syncTime(Math.max(volume.largestCompany, meanRecords(volume)), speed);
  // Requests that are sent while the last companies sync do not delay the imports, so the time of that sync is
  // subtracted.
  const importMs =
    timeAtThroughput(volume, throughput, limits, speed) ??
    Math.max(importTime(volume, limits, speed), requestTime(requests) - syncMs);
  const atPaceMs = timeAtPace(volume.companies, limits.companiesPerMinute);
  const within = (factor: number) => {
    // A faster service does not move more companies per minute than the limit allows.
    const workMs = Math.max(importMs * factor, atPaceMs);
    return {
      ms: Math.round(workMs + syncMs * factor),
      // Syncs and their verification continue outside the windows.
      end: plusMs(endWithin(limits.windows, from, workMs), syncMs * factor),
    };
  };
  const spread = basis === 'migration' && measuredOn < MIN_COMPANIES_MEASURED ? SPREAD.assumed : SPREAD[basis];
  const [low, high] = [within(1 / spread), within(spread)];
  return {
    volume,
    requests,
    lowMs: low.ms,
    highMs: high.ms,
    ends: low.end && high.end ? { earliest: low.end, latest: high.end } : null,
    staleHours: high.end === null ? null : hoursBetween(volume.staleSince ?? from, high.end),
    basis,
    measuredOn,
  };
}

/**
 * Returns how long the imports take at the throughput, in milliseconds. Returns null if fewer companies were moved than
 * can be imported at once, because a small wave, for example, moves at a lower rate than the migration can reach. A
 * large token family can take longer, because other companies moved beside it until now.
 */
function timeAtThroughput(
  { companies, largestFamily }: Volume,
  throughput: Throughput | null,
  limits: EstimateInput['limits'],
  { importMs }: Speed,
): number | null {
  const { slices, companies: perSlice } = paceOf(limits);
  if (throughput === null || throughput.moved < slices * perSlice) return null;
  const rate = perMinute(withinLimit(throughput, limits.companiesPerMinute));
  return rate === null ? null : Math.max((companies / rate) * MINUTE_MS, largestFamily * importMs);
}

function importTime(
  { companies, largestFamily }: Volume,
  limits: EstimateInput['limits'],
  { importMs }: Speed,
): number {
  const { slicesAtOnce, companiesPerSliceAtOnce, companiesPerMinute } = limits;
  const rounds = Math.max(Math.ceil(companies / (slicesAtOnce * companiesPerSliceAtOnce)), largestFamily);
  return Math.max(rounds * importMs, timeAtPace(companies, companiesPerMinute));
}

function requestTime(requests: number): number {
  // The rate limit allows the first minute's requests at once.
  return Math.max(0, (requests / REQUESTS_PER_MINUTE - 1) * MINUTE_MS);
}

function syncTime(records: number, { syncBaseMs, msPerRecord }: Speed): number {
  return syncBaseMs + records * msPerRecord;
}

function requestsPerCompany(volume: Volume, speed: Speed): number {
  const polls = pollsDuring(syncTime(meanRecords(volume), speed));
  return REQUESTS_PER_IMPORT + polls * REQUESTS_PER_POLL + REQUESTS_PER_VERIFICATION;
}

function meanRecords({ companies, records, companiesWithoutVolume }: Volume): number {
  return companies === 0 ? 0 : (records + companiesWithoutVolume * ASSUMED_RECORDS) / companies;
}

function plusMs(instant: string | null, ms: number): string | null {
  return instant === null ? null : new Date(Date.parse(instant) + ms).toISOString();
}

function hoursBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / HOUR_MS;
}

/** Measurements of moved companies: mean values, and the regression line of sync time against records. */
export interface Measurement {
  readonly companies: number;
  readonly importMs: number;
  readonly syncMs: number;
  readonly records: number;
  /** The line's sync time at zero records, in ms; null if there are too few companies or all have the same size. */
  readonly base: number | null;
  /** The line's slope, in milliseconds per record; null if `base` is null. */
  readonly slope: number | null;
}

/** With fewer companies, the regression line is not reliable. */
const MIN_COMPANIES_FOR_LINE = 10;

/** Returns the measured speed. If the regression line is not usable, scales the previous speed to the measured mean. */
export function speedFrom({ companies, importMs, syncMs, records, base, slope }: Measurement, previous: Speed): Speed {
  if (companies >= MIN_COMPANIES_FOR_LINE && base !== null && slope !== null && base >= 0 && slope >= 0) {
    return { importMs, syncBaseMs: base, msPerRecord: slope };
  }
  const factor = syncMs / syncTime(records, previous);
  return { importMs, syncBaseMs: previous.syncBaseMs * factor, msPerRecord: previous.msPerRecord * factor };
}
