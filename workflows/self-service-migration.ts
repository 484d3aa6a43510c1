import type { Handover } from './hand-over';
import { remainingCompaniesMigrated } from './steps/complete-migration';
import { detailsSupplied } from './steps/supply-details';
import type { MigrationInput } from './whole-migration';
import { wholeMigration } from './whole-migration';

/**
 * A client moves its connections itself: what it has supplied is checked, every company is moved and verified, and what
 * was not moved waits for the client's decision. Nobody approves: it begins when nothing is wrong, and ends when nothing
 * is left.
 */
export async function selfServiceMigration(input: MigrationInput): Promise<Handover> {
  return wholeMigration(input, (desk) =>
    desk.state().step === 'supply-details' ? detailsSupplied(desk) : remainingCompaniesMigrated(desk),
  );
}
