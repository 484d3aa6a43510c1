/** Writes the portal view of a migration. */
import { askForReconnectionCheck, NoSuchMigration, readProgress } from '../../client';
import { countOpen } from '../../domain/companies/company-state';
import { isEnding } from '../../domain/migration/migration-state';
import { newMigration, type MigrationState } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import { DEFAULT_DECISION_RULES } from '../../domain/migration/plan';
import type { Progress } from '../../domain/progress/progress';
import { progressOf } from '../../domain/progress/progress';
import { oneLine } from '../../domain/text/sentences';
import { migrationView } from '../../presentation/portal/view';
import { formatMigrationKey, MigrationKeyInvalid } from '../../security';
import type { Database, StoredMigration } from '../../store';
import {
  countCompanies,
  countUnconfirmedByWave,
  findCompany,
  readReplacedApplications,
  readDecisions,
  readLimits,
  readMigration,
  readMigrationKey,
  VaultClosed,
  writePortalView,
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
    if (error instanceof NoSuchMigration) return progressAfterEnd(db, migration);
    throw error;
  });
  if (progress === null) return;
  await keepReconnectionsCurrent(context, progress);
  const isOpen = migration.state === 'open';
  const view = migrationView(
    progress,
    {
      isRotating: migration.rotating,
      unconfirmedFirst: isOpen ? await readUnconfirmedFirst(db, progress) : null,
      applications: await readReplacedApplications(db, migrationId),
      waves: isOpen && progress.counts.unconfirmed > 0 ? await countUnconfirmedByWave(db, migrationId) : [],
      migrationKey: isOpen ? await readKey(db, migrationId) : null,
    },
    new Date().toISOString(),
  );
  await writePortalView(db, migrationId, view);
}

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

/** Returns whether the migration is open and every company has a final outcome, so that both sides can sign off. */
const isHandover = ({ step, state, counts }: Progress): boolean =>
  !isEnding(state) && step === 'complete-migration' && countOpen(counts) === 0;

/** Returns the requested first company if it is not ready because its confirmation is missing; otherwise null. */
async function readUnconfirmedFirst(
  db: Database,
  { migrationId, step, firstCompany, requestedFirst }: Progress,
): Promise<string | null> {
  if (step !== 'migrate-first-company' || firstCompany !== null || !requestedFirst?.notReady) return null;
  const { reference } = requestedFirst;
  const company = await findCompany(db, migrationId, { reference });
  const isUnconfirmed = company?.state === 'waiting' && company.heldBack === null && company.confirmedAt === null;
  return isUnconfirmed ? oneLine(reference, 100) : null;
}

async function readKey(db: Database, migrationId: string): Promise<string | null> {
  try {
    return formatMigrationKey(await readMigrationKey(db, migrationId));
  } catch (error) {
    if (error instanceof VaultClosed || error instanceof MigrationKeyInvalid) return null;
    throw error;
  }
}

/**
 * Returns, from the ledger, the progress of a migration whose workflow Temporal has deleted; null if the migration has
 * not ended.
 */
async function progressAfterEnd(db: Database, migration: StoredMigration): Promise<Progress | null> {
  const { id, ending, route, released, rules, client, platformKey, contact } = migration;
  if (ending === null) return null;
  const [{ limits }, counts, recorded] = await Promise.all([
    readLimits(db, id),
    countCompanies(db, id),
    readDecisions(db, id),
  ]);
  const applied = recorded.filter(({ outcome }) => outcome.applied);
  const last = ending === 'completed' ? undefined : applied.at(-1);
  const approvals = applied.flatMap(({ decision, outcome }) =>
    decision.kind === 'step' && decision.verdict === 'approve'
      ? [{ step: decision.step, role: decision.role, by: decision.by, at: outcome.at }]
      : [],
  );
  const plan: MigrationPlan = {
    ...{ migrationId: id, client, route, platformKey, contact, firstCompany: null, limits },
    decisions: rules ?? DEFAULT_DECISION_RULES,
  };
  const state: MigrationState = {
    ...newMigration(plan),
    ...{ closed: ending, counts },
    step: released === 'all' || route === 'self-service' ? 'complete-migration' : 'migrate-first-company',
    // Keeps the last approval of each role in each step, without asking whether it was withdrawn. In a step that has
    // ended, a withdrawn approval was given again. In the step in which the migration was cancelled, it can still show.
    approvals: approvals.filter(
      ({ step, role }, index) =>
        !approvals.slice(index + 1).some((later) => later.step === step && later.role === role),
    ),
    endedBy: last
      ? {
          ...{ by: last.decision.by, role: last.decision.role, reason: last.decision.reason ?? null },
          at: last.outcome.at,
        }
      : null,
  };
  return progressOf(plan, state);
}
