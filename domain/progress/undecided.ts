/** The companies that were not moved, and wait for a decision. */
import { waitsForDeferred, type Counts } from '../companies/counts';
import type { MigrationState } from '../migration/migration-state';
import { counted } from '../text/sentences';

/**
 * Counts the companies that people can decide about while the migration only waits for the next try of deferred
 * companies; 0 while any other company can be moved. Leaves out relinked companies, because they wait for their end
 * customer.
 */
export function countUndecided({
  step,
  counts,
  relinking,
  countsRelinked,
}: Pick<MigrationState, 'step' | 'counts' | 'relinking' | 'countsRelinked'>): number {
  const isWaiting = step === 'complete-migration' && waitsForDeferred(counts);
  // An earlier version did not use `counts.relinked`, but subtracted `relinking`. The replay of its histories must do
  // the same, even if their counts include `relinked` from a worker of this version.
  const checked = Math.min(relinking, counts.mustReconnect);
  return isWaiting ? counts.failed - (countsRelinked ? (counts.relinked ?? checked) : checked) : 0;
}

/** Returns what the client has to do at the end of a self-service migration in which companies were not moved. */
export function finalDecisionText({ failed, relinked = 0 }: Pick<Counts, 'failed' | 'relinked'>): string {
  if (failed > relinked) return decideText(failed - relinked);
  const [has, them] = failed === 1 ? ['has', 'it'] : ['have', 'them'];
  return `wait until ${counted(failed, 'company')} ${has} been reconnected, or leave ${them} out`;
}

/** Asks for a decision about companies that were not moved. */
export const decideText = (companies: number): string => `decide what to do about ${companiesNotMoved(companies)}`;

export const companiesNotMoved = (companies: number): string =>
  `${counted(companies, 'company')} that ${companies === 1 ? 'was' : 'were'} not moved`;
