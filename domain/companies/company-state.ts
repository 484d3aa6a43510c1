/** How far one company is. The ledger row holds it; `importing` is reached by the claim alone. */

export const COMPANY_STATES = [
  'waiting',
  'importing',
  'syncing',
  'migrated',
  'failed',
  'skipped',
  'excluded',
  'outcome-unknown',
] as const;

export type CompanyState = (typeof COMPANY_STATES)[number];

/** How many companies of a migration are in each state, and what the waiting ones lack. */
export interface Counts {
  readonly total: number;
  /** Not yet confirmed by the client as disabled in its own application, and not excluded. */
  readonly unconfirmed: number;
  /** Those of them that belong to the wave that goes first. */
  readonly unconfirmedInFirstWave: number;
  /** Waiting, confirmed, but without a credential that counts. */
  readonly withoutCredential: number;
  /** Waiting for a correction, whatever else they lack: the check found something wrong with them, or is still to come. */
  readonly heldBack: number;
  readonly waiting: number;
  readonly importing: number;
  readonly syncing: number;
  readonly migrated: number;
  readonly failed: number;
  /** Of those: whose end customer has to connect again. */
  readonly mustReconnect: number;
  readonly skipped: number;
  readonly excluded: number;
  readonly outcomeUnknown: number;
  /** Of the companies that were not moved, and why; null: there is none. */
  readonly exceptionsDigest: string | null;
}

export const NO_COUNTS: Counts = {
  total: 0,
  unconfirmed: 0,
  unconfirmedInFirstWave: 0,
  withoutCredential: 0,
  heldBack: 0,
  waiting: 0,
  importing: 0,
  syncing: 0,
  migrated: 0,
  failed: 0,
  mustReconnect: 0,
  skipped: 0,
  excluded: 0,
  outcomeUnknown: 0,
  exceptionsDigest: null,
};

/** Whether a message carries counts: anybody can send one with Temporal's own tools. */
export function isCounts(value: unknown): value is Counts {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Object.keys(NO_COUNTS).every((name) =>
    name === 'exceptionsDigest'
      ? fields[name] === null || typeof fields[name] === 'string'
      : Number.isSafeInteger(fields[name]),
  );
}

/** Companies about which nothing final is known: while there is one, a migration cannot be signed off. */
export function openCompanies(counts: Counts): number {
  return counts.waiting + counts.importing + counts.syncing + counts.outcomeUnknown;
}

/** Whether nothing final is known of a company. */
export function isOpen(state: CompanyState): boolean {
  return state === 'waiting' || state === 'importing' || state === 'syncing' || state === 'outcome-unknown';
}

/** Companies that a batch run can still move by itself, without anybody supplying anything. */
export function movableCompanies(counts: Counts): number {
  const lacking = counts.unconfirmed + counts.withoutCredential + counts.heldBack;
  return counts.waiting - lacking + counts.importing + counts.syncing;
}

/** Companies with a final outcome, good or bad: what a progress bar counts. */
export function finishedCompanies(counts: Counts): number {
  return counts.total - openCompanies(counts);
}

/** Whether a credential of this migration may already have been handed to the service. */
export function anyCrossed(counts: Counts): boolean {
  return counts.importing + counts.syncing + counts.migrated + counts.failed + counts.outcomeUnknown > 0;
}

/** A state in the words a client reads: *moved, moving, must reconnect, not moved*. */
export function clientStateText(state: CompanyState, failure: string | null): string {
  switch (state) {
    case 'migrated':
      return 'moved';
    case 'importing':
    case 'syncing':
      return 'moving';
    case 'failed':
      return failure === 'reauthorization-required' ? 'must reconnect' : 'not moved';
    case 'waiting':
    case 'skipped':
    case 'excluded':
    case 'outcome-unknown':
      return 'not moved';
  }
}
