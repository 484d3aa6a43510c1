/** The companies that were not moved, and wait for a decision while only deferred companies are left. */
import { waitsForDeferred } from '../companies/counts';
import type { MigrationState } from '../migration/migration-state';
import { counted } from '../text/sentences';

/**
 * Counts the companies that people can decide about while the migration only waits for the next try of deferred
 * companies; 0 while any other company can be moved. Leaves out companies that are checked for a
 * reconnection, because they wait for their end customer.
 */
export function countUndecided({
  step,
  counts,
  relinking,
}: Pick<MigrationState, 'step' | 'counts' | 'relinking'>): number {
  const isWaiting = step === 'complete-migration' && waitsForDeferred(counts);
  // A check of the reconnections corrects `relinking`, so it can still contain companies that were skipped or retried.
  return isWaiting ? counts.failed - Math.min(relinking, counts.mustReconnect) : 0;
}

/** Asks for a decision about companies that were not moved. */
export const decideText = (companies: number): string => `decide what to do about ${companiesNotMoved(companies)}`;

export const companiesNotMoved = (companies: number): string =>
  `${counted(companies, 'company')} that ${companies === 1 ? 'was' : 'were'} not moved`;
