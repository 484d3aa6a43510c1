/** Evidence: the results of the checks after a company's move, one entry per check. */

/** The record of a successful call to the service. */
export interface ServiceAnswer {
  /** Identifies the call, so that the service's support team can look it up. */
  readonly correlationId?: string;
  /** Duration of the successful attempt. Milliseconds. */
  readonly durationMs: number;
}

/** The result of one check. */
export interface Evidence {
  readonly code: EvidenceCode;
  readonly label: string;
  readonly passed: boolean;
  readonly detail: string;
  readonly correlationId?: string;
  /** Duration of the call, or of the sync of a data set. Milliseconds. */
  readonly durationMs?: number;
  /** Set when the records of a data set were counted. */
  readonly records?: Records;
}

export interface Records {
  readonly dataType: string;
  /** From the manifest; null if the manifest gives no number. */
  readonly expected: number | null;
  readonly found: number;
}

/** Formats the result of a count: `10 expected, 12 found`. */
export function recordsText({ expected, found }: Pick<Records, 'expected' | 'found'>): string {
  return expected === null ? `${found} found` : `${expected} expected, ${found} found`;
}

/** The schedule on which the service syncs a company. */
export interface SyncSchedule {
  /**
   * Hours between two syncs: `least` for the most frequently synced data set, `most` for the least frequently synced
   * data set. Null if no data set is synced on a schedule.
   */
  readonly everyHours: { readonly least: number; readonly most: number } | null;
  /** When the first sync after the move is due. ISO 8601, UTC; null if none is scheduled. */
  readonly nextAt: string | null;
}

/** Identifies the kind of check. Programs compare the code; people read the label. */
export const EVIDENCE_CODES = [
  'refreshed',
  'authorized',
  'organization',
  'name',
  'synced',
  'complete',
  'moved',
] as const;

export type EvidenceCode = (typeof EVIDENCE_CODES)[number];

/** The labels of the checks that do not name a data set. */
export const EVIDENCE_LABELS = {
  refreshed: 'token accepted by the platform',
  authorized: 'connection authorized',
  organization: 'right organization',
  name: 'name as expected',
  moved: 'moved',
} as const satisfies Partial<Record<EvidenceCode, string>>;
