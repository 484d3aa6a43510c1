/** How long a migration takes, as a range, from the data volume. */

export interface Volume {
  readonly companies: number;
  /** Records that the manifest promises, over all companies. */
  readonly records: number;
  /** Companies for which the manifest says nothing about records. */
  readonly companiesWithoutVolume: number;
}

/** What the service was last seen to do. */
export interface Speed {
  /** Time from the claim of a company to the end of its calls, its sync excluded. Milliseconds. */
  readonly importMs: number;
  /** Sync time of a company whatever its size. Milliseconds. */
  readonly syncBaseMs: number;
  /** Sync time of one record. Milliseconds. */
  readonly msPerRecord: number;
}

export interface Estimate {
  readonly volume: Volume;
  readonly lowMs: number;
  readonly highMs: number;
  /** Hours in which a company's data is not refreshed, from the freeze to its first sync, for the last company to move. */
  readonly darkHours: number;
  /** Whether the speed was measured on this migration's own first company. */
  readonly measured: boolean;
}

/** Before anything is measured: a careful guess, replaced by the first company's figures. */
export const ASSUMED_SPEED: Speed = { importMs: 2_000, syncBaseMs: 30_000, msPerRecord: 20 };

const RECORDS_WHERE_UNKNOWN = 1_000;
/** What a measured run was seen to vary by; an assumed one is given twice the room. */
const SPREAD_MEASURED = 1.5;
const SPREAD_ASSUMED = 3;

/** Companies are imported `companiesAtOnce` at a time; their syncs overlap, so the longest of them is waited for once. */
export function estimate(volume: Volume, companiesAtOnce: number, speed: Speed, measured: boolean): Estimate {
  const records = volume.records + volume.companiesWithoutVolume * RECORDS_WHERE_UNKNOWN;
  const perCompany = volume.companies === 0 ? 0 : records / volume.companies;
  const rounds = Math.ceil(volume.companies / Math.max(1, companiesAtOnce));
  const likelyMs = rounds * speed.importMs + speed.syncBaseMs + perCompany * speed.msPerRecord;
  const spread = measured ? SPREAD_MEASURED : SPREAD_ASSUMED;
  const highMs = Math.round(likelyMs * spread);
  return {
    volume,
    lowMs: Math.round(likelyMs / spread),
    highMs,
    darkHours: Math.ceil((highMs / 3_600_000) * 10) / 10,
    measured,
  };
}
