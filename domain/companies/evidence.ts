/** What the end-to-end test of a company found, check by check. */

/** An answer of the service, to be quoted to support. */
export interface ServiceAnswer {
  readonly correlationId?: string;
  /** Milliseconds, of the attempt that succeeded. */
  readonly durationMs: number;
}

/** One check of a company's end-to-end test. */
export interface Evidence {
  readonly check: string;
  readonly passed: boolean;
  readonly detail: string;
  readonly correlationId?: string;
  /** How long it took: the call, or the sync of a data set. Milliseconds. */
  readonly durationMs?: number;
  /** Of a data set that was counted. */
  readonly records?: Records;
}

export interface Records {
  readonly dataType: string;
  /** As the manifest says; null: it does not. */
  readonly expected: number | null;
  readonly found: number;
}

/** `10 expected, 12 found`. */
export function recordsText({ expected, found }: Pick<Records, 'expected' | 'found'>): string {
  return expected === null ? `${found} found` : `${expected} expected, ${found} found`;
}

/** How often the service syncs a company by itself. */
export interface SyncSchedule {
  /** Hours between two syncs, of the data set that is synced most often and of the rarest; null: none is synced. */
  readonly everyHours: { readonly least: number; readonly most: number } | null;
  /** The first sync after the company's move. ISO 8601, UTC. */
  readonly nextAt: string | null;
}

/** The labels of checks by their codes. Code compares with these constants, never with the text of a label. */
export const CHECKS = {
  refreshed: 'refreshed at the platform',
  authorized: 'no reauthorization required',
  organization: 'right organization',
  name: 'name as expected',
  moved: 'moved',
} as const;

/** Finds the evidence of a check; undefined: the check was not done. */
export function evidenceOf(code: keyof typeof CHECKS, evidence: readonly Evidence[] | null): Evidence | undefined {
  return evidence?.find(({ check }) => check === CHECKS[code]);
}
