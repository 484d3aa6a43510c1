/** The result of a try to import a company: its outcome, why it was deferred, and the backoff before the next try. */
import type { Deferral } from './circuit-breaker';
import type { Consequence, StopReason } from '../../domain/companies/failures';
import type { ClaimedCompany, ImportOutcome } from '../../store';

export interface ImportResult {
  readonly outcome: ImportOutcome;
  readonly stop: StopReason | null;
  /** Absent if the company got through, or if `isUnanswered` is true. */
  readonly deferredBy?: Deferral;
  /**
   * True if the import shows neither that calls get through nor that they do not: it was cancelled, has lost its lease,
   * or has only read what the service knows.
   */
  readonly isUnanswered?: true;
}

/** Marks a result that shows neither that calls get through nor that they do not. */
export const unanswered = (result: ImportResult): ImportResult => ({ ...result, isUnanswered: true });

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15 * 60_000;

/**
 * Returns a backoff with full jitter, so that companies that failed together are not retried together. Tries that only
 * read the connection after a lost answer do not lengthen the backoff.
 */
export function backoffMs({ tries, triesInFlight }: Pick<ClaimedCompany, 'tries' | 'triesInFlight'>): number {
  return Math.random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (tries - triesInFlight));
}

/** Returns why a company is deferred; an empty object if the consequence does not defer it. */
export function deferral({ action }: Consequence, deferredBy: Deferral): { readonly deferredBy?: Deferral } {
  return action === 'retry' || action === 'read-connection' ? { deferredBy } : {};
}

/** An outcome without the fields that every outcome has. */
export type End = ImportOutcome extends infer Each
  ? Each extends ImportOutcome
    ? Omit<Each, 'row' | 'refs'>
    : never
  : never;
