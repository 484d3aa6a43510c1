/** Suggests the command with which the client confirms that syncing is off for companies. */
import { readCompanies, type Database } from '../../store';
import { clientCommand } from '../connections/client-portal';
import {
  BY_CLIENT,
  MAX_REFERENCES_IN_A_CONFIRMATION,
  otherReferencesText,
  referenceArguments,
} from './remedy-commands';

export interface ConfirmationCommand {
  readonly command: string;
  /** Says how many companies the command lacks; null if it confirms all of them. */
  readonly others: string | null;
}

/**
 * Returns the command that confirms these unconfirmed companies. If there are many, it has `--all` or `--wave` if that
 * confirms no other company; otherwise it names only the first ones.
 *
 * @param portal the portal's address if the client signs its decisions there; null if it does not
 */
export async function confirmationCommand(
  db: Database,
  { migrationId, portal }: { readonly migrationId: string; readonly portal: string | null },
  references: readonly string[],
): Promise<ConfirmationCommand> {
  const isLong = references.length > MAX_REFERENCES_IN_A_CONFIRMATION;
  const option = isLong ? await selectingOption(db, migrationId, references) : null;
  const words = option ?? referenceArguments(references);
  const command = clientCommand(`ferry confirm-sync-disabled ${migrationId} ${words} ${BY_CLIENT}`, portal);
  return { command, others: option === null ? otherReferencesText(command, references) : null };
}

/** Returns the option that selects exactly these of the waiting companies without a confirmation; null if none does. */
async function selectingOption(
  db: Database,
  migrationId: string,
  references: readonly string[],
): Promise<string | null> {
  const named = new Set(references);
  const waves = new Set<number | null>();
  const wavesOfOthers = new Set<number | null>();
  for await (const { reference, wave, confirmedAt } of readCompanies(db, migrationId, { states: ['waiting'] }))
    if (confirmedAt === null) (named.has(reference) ? waves : wavesOfOthers).add(wave);
  if (wavesOfOthers.size === 0) return '--all';
  const [wave = null, ...others] = waves;
  return wave === null || others.length > 0 || wavesOfOthers.has(wave) ? null : `--wave ${wave}`;
}
