/** The migration whose companies `ferry exceptions` lists, and the commands that it suggests for them. */
import type { MoveStage } from '../../domain/companies/company-state';
import type { Remedy } from '../../domain/companies/remedies';
import type { Window } from '../../domain/planning/windows';
import type { StoredMigration } from '../../store';
import type { RemedyTarget } from '../shared/remedy-commands';
import { AS_CLIENT, remedyCommand } from '../shared/remedy-commands';
import { clientCommand } from '../shared/client-portal';

/**
 * A migration and its stage, which says whether companies can still move. The ledger alone does not know that a
 * workflow was terminated.
 */
export type MigrationWithStage = StoredMigration & RemedyTarget & { readonly stage: MoveStage };

/** The migration, and the portal's address if its client signs decisions in the portal. */
export interface Target {
  readonly migration: MigrationWithStage;
  readonly portal: string | null;
}

/** The facts that determine when a deferred company is tried again, apart from its own delay. */
export interface Opening {
  readonly windows: readonly Window[];
  readonly now: Date;
  readonly paused: boolean;
}

/**
 * Returns the command for a remedy. After step 1, the portal offers another application only while the migration is
 * paused because its application was refused, so support registers it.
 */
export function commandFor(remedy: Remedy, { migration, portal }: Target, references: readonly string[]): string {
  const command = remedyCommand(remedy, migration, references);
  return portal !== null && remedy === 'application' ? command.replace(AS_CLIENT, '') : clientCommand(command, portal);
}
