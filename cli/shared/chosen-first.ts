import { firstNotReadyForSupport } from '../../domain/companies/credential-state';
import { isOver } from '../../domain/migration/terminated';
import type { ChosenFirst } from '../../domain/progress/go-nogo-facts';
import type { Progress } from '../../domain/progress/progress';
import { findCompany, type Database } from '../../store';

/**
 * Reads whether the company that was chosen to go first can be moved; null if none was chosen, its move has begun, or
 * the migration or its workflow has ended.
 */
export async function readChosenFirst(
  db: Database,
  { migrationId, state, firstCompany, requestedFirst }: Progress,
): Promise<ChosenFirst | null> {
  if (requestedFirst === null || firstCompany !== null || isOver(state)) return null;
  const { reference } = requestedFirst;
  const company = await findCompany(db, migrationId, { reference });
  if (!company) return { reference, notReady: 'it is not in the manifest' };
  return { reference, notReady: firstNotReadyForSupport(company) };
}
