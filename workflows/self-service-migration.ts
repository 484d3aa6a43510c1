import type { Handover } from './migration/hand-over';
import { remainingCompaniesMigrated } from './migration/steps/complete-migration';
import { detailsSupplied } from './migration/steps/supply-details';
import type { MigrationInput } from './migration/lifecycle';
import { runMigration } from './migration/lifecycle';

/**
 * A client moves its connections itself: what it has supplied is checked, every company is moved and verified, and what
 * was not moved waits for the client's decision. Nobody approves: it begins when nothing is wrong, and ends when nothing
 * is left.
 */
export async function selfServiceMigration(input: MigrationInput): Promise<Handover> {
  return runMigration(input, (desk) =>
    desk.state().step === 'supply-details' ? detailsSupplied(desk) : remainingCompaniesMigrated(desk),
  );
}
