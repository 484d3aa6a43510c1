import { isStepDone, type Progress } from '../../domain/progress/progress';
import { readConfirmers, type Confirmers, type Database } from '../../store';
import { withLedgerLimit } from '../connections/ledger-limit';

/** Maximum number of people who are read for step 4. The line of the step names fewer. */
export const MAX_CONFIRMERS = 10;

/**
 * Reads the people who have confirmed that syncing is off; null until step 4 has ended, because no view names them
 * before then.
 */
export async function readConfirmersOf(
  db: Database,
  { migrationId, steps }: Pick<Progress, 'migrationId' | 'steps'>,
): Promise<Confirmers | null> {
  if (!isStepDone({ steps }, 'disable-syncing')) return null;
  return withLedgerLimit(readConfirmers(db, migrationId, MAX_CONFIRMERS));
}
