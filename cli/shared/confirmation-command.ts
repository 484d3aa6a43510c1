/** Suggests the command with which the client confirms that syncing is off for companies. */
import type { Database } from '../../store';
import { readCompanies } from '../../store';
import { clientCommand } from './client-portal';
import { BY_CLIENT, MAX_REFERENCES_IN_A_COMMAND, otherReferencesText, referenceArguments } from './remedy-commands';

export interface ConfirmationCommand {
  readonly command: string;
  /** Says how many companies the command lacks; null if it confirms all of them. */
  readonly others: string | null;
}

/**
 * Returns the command that confirms these unconfirmed companies. If there are too many to name, it has `--all` if no
 * other waiting company is unconfirmed; otherwise it names only the first ones.
 *
 * @param portal the portal's address if the client signs its decisions there; null if it does not
 */
export async function confirmationCommand(
  db: Database,
  { migrationId, portal }: { readonly migrationId: string; readonly portal: string | null },
  references: readonly string[],
): Promise<ConfirmationCommand> {
  const isAll =
    references.length > MAX_REFERENCES_IN_A_COMMAND && (await areAllUnconfirmed(db, migrationId, references));
  const words = isAll ? '--all' : referenceArguments(references);
  const command = clientCommand(`ferry confirm-sync-disabled ${migrationId} ${words} ${BY_CLIENT}`, portal);
  return { command, others: isAll ? null : otherReferencesText(command, references) };
}

/** Returns whether every waiting company without a confirmation is one of these. */
async function areAllUnconfirmed(db: Database, migrationId: string, references: readonly string[]): Promise<boolean> {
  const named = new Set(references);
  for await (const { reference, confirmedAt } of readCompanies(db, migrationId, { states: ['waiting'] }))
    if (confirmedAt === null && !named.has(reference)) return false;
  return true;
}
