/** Writes the portal view of a migration. */
import {
  askForReconnectionCheck,
  isLedgerBehindProgress,
  NoSuchMigration,
  readProgress,
  readProgressAfterEnd,
} from '../../client';
import { countOpen } from '../../domain/companies/counts';
import { isOver } from '../../domain/migration/terminated';
import { isStepDone, type Progress } from '../../domain/progress/progress';
import { oneLine } from '../../domain/text/sentences';
import type { TaskFacts } from '../../presentation/portal/task';
import { migrationView } from '../../presentation/portal/view';
import { formatMigrationKey, MigrationKeyInvalid } from '../../security';
import {
  countUnconfirmedByWave,
  findCompany,
  hasReconnectLink,
  readChangedSinceSignOff,
  readReplacedApplications,
  readMigration,
  readConfirmers,
  readMigrationKey,
  VaultClosed,
  writePortalView,
  type Database,
} from '../../store';
import type { PortalContext } from './context';

/**
 * Writes the view of a migration. Writes nothing, so that the last view stays, if Temporal does not know the migration
 * and it has not ended in the ledger.
 */
export async function writeView(context: PortalContext, migrationId: string): Promise<void> {
  const { ferry } = context;
  const { db } = ferry;
  const migration = await readMigration(db, migrationId);
  if (!migration) return;
  const progress = await readProgress(ferry, migrationId).catch((error: unknown) => {
    if (error instanceof NoSuchMigration) return readProgressAfterEnd(ferry, migration);
    throw error;
  });
  if (progress === null) return;
  const isLedgerBehind = await isLedgerBehindProgress(ferry, progress);
  if (!isLedgerBehind) await keepReconnectionsCurrent(context, progress);
  const isOpen = migration.state === 'open';
  const view = migrationView(
    progress,
    {
      isRotating: migration.rotating,
      confirmers: isStepDone(progress, 'disable-syncing')
        ? await readConfirmers(db, migrationId, MAX_CONFIRMERS)
        : null,
      ...(isOpen ? await readFirstFacts(db, progress) : NO_FIRST_FACTS),
      applications: await readReplacedApplications(db, migrationId),
      changedSinceSignOff: await readChangedSinceSignOff(db, progress),
      hasReconnectLink: progress.counts.mustReconnect > 0 && (await hasReconnectLink(db, migrationId)),
      waves: isOpen && progress.counts.unconfirmed > 0 ? await countUnconfirmedByWave(db, migrationId) : [],
      migrationKey: isOpen ? await readKey(db, migrationId) : null,
      isLedgerBehind,
    },
    new Date().toISOString(),
  );
  await writePortalView(db, migrationId, view);
}

/** The maximum number of confirmers whose names are read for step 4: as many as the view shows. */
const MAX_CONFIRMERS = 2;

/**
 * How often the companies that must reconnect are checked while the watched view offers the sign-off, in milliseconds.
 */
const CHECK_RECONNECTED_EVERY_MS = 60_000;

/**
 * If the view offers the sign-off, asks for a check of whether end customers have reconnected. A later view shows the
 * result.
 */
async function keepReconnectionsCurrent(
  { ferry, reconnectionsAskedAt }: PortalContext,
  progress: Progress,
): Promise<void> {
  const { migrationId, reconnections } = progress;
  if (!isHandover(progress)) return;
  const latest = Math.max(reconnectionsAskedAt.get(migrationId) ?? 0, Date.parse(reconnections?.checkedAt ?? '') || 0);
  if (Date.now() - latest < CHECK_RECONNECTED_EVERY_MS) return;
  reconnectionsAskedAt.set(migrationId, Date.now());
  await askForReconnectionCheck(ferry, progress);
}

/** Returns whether an open migration is in step 6 and no company is open, so that both sides can sign off. */
const isHandover = ({ step, state, counts }: Progress): boolean =>
  !isOver(state) && step === 'complete-migration' && countOpen(counts) === 0;

const NO_FIRST_FACTS: TaskFacts = { unconfirmedFirst: null, unknownFirst: null };

/**
 * Reads why the requested first company is not ready: its confirmation is missing, it was left out, or it is not in the
 * manifest. Returns no reason once the migration or its workflow has ended.
 */
async function readFirstFacts(
  db: Database,
  { migrationId, state, step, firstCompany, requestedFirst }: Progress,
): Promise<TaskFacts> {
  const isFirstAwaited = !isOver(state) && step === 'migrate-first-company' && firstCompany === null;
  if (!isFirstAwaited || !requestedFirst?.notReady) return NO_FIRST_FACTS;
  const { reference } = requestedFirst;
  const shown = oneLine(reference, 100);
  const company = await findCompany(db, migrationId, { reference });
  // While the migration is paused, the headline says why it is paused, and does not ask for another company.
  if (!company) return { unconfirmedFirst: null, unknownFirst: state === 'paused' ? null : shown };
  const isUnconfirmed = company.state === 'waiting' && company.heldBack === null && company.confirmedAt === null;
  const isLeftOut = company.state === 'excluded' || company.state === 'skipped';
  return {
    ...{ unconfirmedFirst: isUnconfirmed ? shown : null, unknownFirst: null },
    leftOutFirst: isLeftOut && state !== 'paused' ? shown : null,
  };
}

async function readKey(db: Database, migrationId: string): Promise<string | null> {
  try {
    return formatMigrationKey(await readMigrationKey(db, migrationId));
  } catch (error) {
    if (error instanceof VaultClosed || error instanceof MigrationKeyInvalid) return null;
    throw error;
  }
}
