/** The migration whose companies `ferry exceptions` lists, and the commands that it suggests for them. */
import { ServiceError } from '@temporalio/client';
import type { MoveStage } from '../../domain/companies/company-state';
import { remedyText, type Remedy } from '../../domain/companies/remedies';
import { hasOpenWindow } from '../../domain/progress/open-window';
import { onceFirstIsApproved, ONCE_RESUMED, resumptionText, type TryTimes } from '../../domain/progress/retried';
import { readCompanyPage, readLimits, type Database, type LedgerCompany, type StoredMigration } from '../../store';
import {
  isBatchRunning,
  NoSuchMigration,
  NoWorker,
  PayloadKeyMissing,
  queryProgress,
  readSchedulePause,
  type LedgerClient,
} from '../../client';
import { AS_CLIENT, otherReferencesText, remedyCommand, type RemedyTarget } from '../suggestions/remedy-commands';
import type { Output } from '../terminal/output';
import { clientCommand } from '../connections/client-portal';

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
export interface Opening extends TryTimes {
  readonly now: Date;
}

const ANSWER_WITHIN_MS = 5_000;

/**
 * Reads when companies are tried again. Only Temporal knows of outages and paused windows, so they are left out if the
 * workflow cannot be asked. The rest of the list needs only the ledger.
 */
export async function readOpening(ferry: LedgerClient, migration: MigrationWithStage): Promise<Opening> {
  const { limits, now } = await readLimits(ferry.db, migration.id);
  const { windows } = limits;
  return { windows, now, once: await readResumption(ferry, migration, { windows, now }) };
}

/**
 * Returns when one company is tried again. In step 5, every company but the first also waits for its approval. A
 * migration that paused itself can choose another first company once it is resumed.
 */
export function openingFor(
  { row, reference }: Pick<LedgerCompany, 'row' | 'reference'>,
  { released, firstRow, requestedFirst, pausedItself }: MigrationWithStage,
  opening: Opening,
): Opening {
  const isFirst = firstRow === null ? (requestedFirst ?? reference) === reference : row === firstRow;
  if (released !== 'first-company' || pausedItself || isFirst) return opening;
  return { ...opening, once: onceFirstIsApproved(opening.once) };
}

async function readResumption(
  ferry: LedgerClient,
  { id: migrationId, paused, stage }: MigrationWithStage,
  { windows, now }: Pick<Opening, 'windows' | 'now'>,
): Promise<string | null> {
  const inLedger = paused ? ONCE_RESUMED : null;
  if (stage !== 'open' || (paused && windows.length === 0)) return inLedger;
  if (!(await hasTriesAhead(ferry.db, migrationId))) return inLedger;
  try {
    const progress = await queryProgress(ferry, migrationId, ANSWER_WITHIN_MS);
    const areWindowsPaused =
      windows.length > 0 &&
      progress.step === 'complete-migration' &&
      (await readSchedulePause(ferry, migrationId)) !== null &&
      !hasOpenWindow(progress, windows, await isBatchRunning(ferry, migrationId), now.toISOString());
    return resumptionText(paused ? { ...progress, state: 'paused' } : progress, areWindowsPaused);
  } catch (error) {
    if (isUnanswered(error)) return inLedger;
    throw error;
  }
}

/** No worker answers, the payload key is missing, Temporal has lost the migration, or Temporal does not answer. */
const UNANSWERED = [NoWorker, PayloadKeyMissing, NoSuchMigration, ServiceError] as const;

/** Returns whether the workflow could not be asked. */
const isUnanswered = (error: unknown): boolean => UNANSWERED.some((errorClass) => error instanceof errorClass);

/** Returns whether companies might be waiting for their next try. Otherwise, the workflow need not be asked. */
async function hasTriesAhead(db: Database, migrationId: string): Promise<boolean> {
  const none = { offset: 0, limit: 0 };
  if ((await readCompanyPage(db, migrationId, { retried: true }, none)).matching > 0) return true;
  return (await readCompanyPage(db, migrationId, { states: ['waiting'], exceptions: true }, none)).matching > 0;
}

/**
 * Prints the command for a remedy, what the remedy does, and which companies the command leaves out.
 *
 * @param remedies all remedies that the migration accepts now for these companies
 * @param companies number of companies that the command is for
 */
export function printRemedy(
  output: Output,
  remedy: Remedy,
  command: string,
  {
    remedies,
    references,
    companies,
  }: { readonly remedies: readonly Remedy[]; readonly references: readonly string[]; readonly companies: number },
): void {
  const others = otherReferencesText(command, references, companies);
  output.line(`  ${command}`);
  output.line(`      ${remedyText(remedy, remedies)}${others === null ? '' : `; ${others}`}`);
}

/**
 * Returns the command for a remedy. Support registers another application, because after step 1 the portal offers this
 * to the client only during a pause that a refused application caused.
 */
export function commandFor(remedy: Remedy, { migration, portal }: Target, references: readonly string[]): string {
  const command = remedyCommand(remedy, migration, references);
  return portal !== null && remedy === 'application' ? command.replace(AS_CLIENT, '') : clientCommand(command, portal);
}
