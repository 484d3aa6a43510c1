/** How long a migration takes, as a range, from the data volume and from what the service was seen to do. */
import type { MigrationLimits } from './limits';
import { pollsDuring } from './polling';
import { endWithin } from './windows';

/** What is still to be moved. */
export interface Volume {
  readonly companies: number;
  /** Records that the manifest promises, over all of these companies. */
  readonly records: number;
  /** Companies for which the manifest says nothing about records. */
  readonly companiesWithoutVolume: number;
  /** Records of the largest company, as far as the manifest says. */
  readonly largestCompany: number;
  /** Companies of the largest token family, which are moved one after the other; 0: there is none. */
  readonly largestFamily: number;
  /** Since when the first of them has had no fresh data: its syncing was disabled. ISO 8601, UTC. */
  readonly darkSince: string | null;
}

/** What the service was seen to do. */
export interface Speed {
  /** Time from the claim of a company to the start of its syncs. Milliseconds. */
  readonly importMs: number;
  /** Sync time of a company whatever its size. Milliseconds. */
  readonly syncBaseMs: number;
  /** Sync time of one record. Milliseconds. */
  readonly msPerRecord: number;
}

/** Where a speed comes from: a careful guess, earlier migrations of the platform, or this migration's own companies. */
export type SpeedBasis = 'assumed' | 'platform' | 'migration';

export interface KnownSpeed {
  readonly speed: Speed;
  readonly basis: SpeedBasis;
  /** Companies that it was measured on. */
  readonly companies: number;
}

export interface Estimate {
  readonly volume: Volume;
  /** Requests to the service. */
  readonly requests: number;
  /** Time at work: hours outside the windows do not count. */
  readonly lowMs: number;
  readonly highMs: number;
  /** With the windows, from the proposed start on; before there is one, from the time of the estimate. Null: not within a year. */
  readonly ends: { readonly earliest: string; readonly latest: string } | null;
  /** Hours in which a company's data is not refreshed, from its freeze to its first sync, for the last company to move; null: more than a year. */
  readonly darkHours: number | null;
  readonly basis: SpeedBasis;
  readonly measuredOn: number;
}

/** What was expected when a start was proposed. */
export interface Planned {
  readonly startAt: string;
  readonly estimate: Estimate;
}

/** Before anything is measured: a careful guess. */
export const ASSUMED_SPEED: KnownSpeed = {
  speed: { importMs: 2_000, syncBaseMs: 30_000, msPerRecord: 20 },
  basis: 'assumed',
  companies: 0,
};

const RECORDS_WHERE_UNKNOWN = 1_000;
/** What is likely is multiplied and divided by this: a guess needs more room than what was measured. */
const SPREAD: Readonly<Record<SpeedBasis, number>> = { assumed: 3, platform: 2, migration: 1.5 };
/** Company, connection, authorization, start of the syncs. */
const REQUESTS_TO_IMPORT = 4;
/** Status and connection. */
const REQUESTS_OF_A_LOOK = 2;
/** Records and settings. */
const REQUESTS_AT_THE_END = 2;
/** The service's limit for a key, as its contract says. */
const REQUESTS_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface EstimateOf {
  readonly volume: Volume;
  readonly limits: Pick<MigrationLimits, 'slicesAtOnce' | 'companiesPerSliceAtOnce' | 'companiesPerMinute' | 'windows'>;
  readonly known: KnownSpeed;
  /** When it begins or goes on. ISO 8601, UTC. */
  readonly from: string;
}

/** Companies are imported so many at a time, those of a family one by one; syncs overlap, so the longest is waited for once. */
export function estimate({ volume, limits, known, from }: EstimateOf): Estimate {
  const { speed, basis, companies: measuredOn } = known;
  const requests = volume.companies * requestsPerCompany(volume, speed);
  const syncMs = volume.companies === 0 ? 0 : syncTime(Math.max(volume.largestCompany, meanRecords(volume)), speed);
  // Requests are made while companies sync, too.
  const importMs = Math.max(importTime(volume, limits, speed), requestTime(requests) - syncMs);
  const within = (factor: number) => ({
    ms: Math.round((importMs + syncMs) * factor),
    // What syncs is verified outside the windows too.
    end: later(endWithin(limits.windows, from, importMs * factor), syncMs * factor),
  });
  const [low, high] = [within(1 / SPREAD[basis]), within(SPREAD[basis])];
  return {
    volume,
    requests,
    lowMs: low.ms,
    highMs: high.ms,
    ends: low.end && high.end ? { earliest: low.end, latest: high.end } : null,
    darkHours: high.end === null ? null : hoursBetween(volume.darkSince ?? from, high.end),
    basis,
    measuredOn,
  };
}

function importTime({ companies, largestFamily }: Volume, limits: EstimateOf['limits'], { importMs }: Speed): number {
  const { slicesAtOnce, companiesPerSliceAtOnce, companiesPerMinute } = limits;
  const rounds = Math.max(Math.ceil(companies / (slicesAtOnce * companiesPerSliceAtOnce)), largestFamily);
  const atPaceMs = companiesPerMinute === null ? 0 : (companies / companiesPerMinute) * MINUTE_MS;
  return Math.max(rounds * importMs, atPaceMs);
}

/** The first thousand are not waited for. */
function requestTime(requests: number): number {
  return Math.max(0, (requests / REQUESTS_PER_MINUTE - 1) * MINUTE_MS);
}

function syncTime(records: number, { syncBaseMs, msPerRecord }: Speed): number {
  return syncBaseMs + records * msPerRecord;
}

function requestsPerCompany(volume: Volume, speed: Speed): number {
  const looks = pollsDuring(syncTime(meanRecords(volume), speed));
  return REQUESTS_TO_IMPORT + looks * REQUESTS_OF_A_LOOK + REQUESTS_AT_THE_END;
}

function meanRecords({ companies, records, companiesWithoutVolume }: Volume): number {
  return companies === 0 ? 0 : (records + companiesWithoutVolume * RECORDS_WHERE_UNKNOWN) / companies;
}

function later(instant: string | null, ms: number): string | null {
  return instant === null ? null : new Date(Date.parse(instant) + ms).toISOString();
}

/** Rounded up, to a tenth. */
function hoursBetween(from: string, to: string): number {
  return Math.ceil(((Date.parse(to) - Date.parse(from)) / HOUR_MS) * 10) / 10;
}

/** What the ledger measured on companies that were moved: means, and the line through records and sync time. */
export interface Measurement {
  readonly companies: number;
  readonly importMs: number;
  readonly syncMs: number;
  readonly records: number;
  /** Milliseconds, and milliseconds per record; null: there are too few companies, or all are of one size. */
  readonly base: number | null;
  readonly slope: number | null;
}

/** A line through fewer companies than this says more about chance than about records. */
const COMPANIES_FOR_A_LINE = 10;

/** The speed that was measured. Where no line can be drawn, the one known before is stretched until it fits. */
export function speedFrom({ companies, importMs, syncMs, records, base, slope }: Measurement, before: Speed): Speed {
  if (companies >= COMPANIES_FOR_A_LINE && base !== null && slope !== null && base >= 0 && slope >= 0) {
    return { importMs, syncBaseMs: base, msPerRecord: slope };
  }
  const stretch = syncMs / syncTime(records, before);
  return { importMs, syncBaseMs: before.syncBaseMs * stretch, msPerRecord: before.msPerRecord * stretch };
}
