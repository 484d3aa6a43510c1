import type { MigrationResult } from './migration/closing';
import { runMigration, type MigrationInput } from './migration/lifecycle';
import { completeMigration } from './migration/steps/complete-migration';
import { supplyDetails } from './migration/steps/supply-details';

/**
 * Moves the companies of a client that runs its own migration. This route has only two of the six steps, and no
 * approvals:
 *
 * 1. `supplyDetails` ends when the preflight has found no errors.
 * 6. `completeMigration` ends when every company has been moved or left out.
 *
 * The client decides what happens to companies that were not moved.
 */
export function selfServiceMigration(input: MigrationInput): Promise<MigrationResult> {
  return runMigration(input, (migration) =>
    migration.state().step === 'supply-details' ? supplyDetails(migration) : completeMigration(migration),
  );
}
