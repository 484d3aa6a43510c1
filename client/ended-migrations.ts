/**
 * Reads migrations that have ended, and migrations that are still open although their workflow has ended in Temporal.
 * The ledger decides how a migration has ended, because a worker answers queries about a terminated workflow as if it
 * were running.
 */
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { newMigration, type MigrationState } from '../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES, type MigrationPlan } from '../domain/migration/plan';
import { stepByDecisions } from '../domain/decisions/release';
import type { MoveStage } from '../domain/companies/company-state';
import type { EndedInTemporal } from '../domain/migration/terminated';
import { progressOf, type Progress } from '../domain/progress/progress';
import { withRecordedTimes } from '../domain/progress/step-times';
import {
  countCompanies,
  readDecisions,
  readFirstCompany,
  readLimits,
  readRecordedDecisions,
  readSyncDisabledAt,
  type Database,
  type StoredMigration,
} from '../store';
import type { LedgerClient, MigrationClient } from './connect';
import { NoSuchMigration } from './errors';
import { describeIfFound } from './workflow-ids';

const STATUSES: Partial<Record<WorkflowExecutionStatusName, EndedInTemporal['status']>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  FAILED: 'failed',
  CANCELLED: 'cancelled_in_temporal',
};

/** Returns how a workflow with this status has ended abnormally; null if it is running or has completed normally. */
export function abnormalStatus(name: WorkflowExecutionStatusName): EndedInTemporal['status'] | null {
  return STATUSES[name] ?? null;
}

/**
 * Asks Temporal whether the workflow of a migration has ended abnormally. No worker is needed.
 *
 * @param withinMs how long to wait for Temporal, in milliseconds
 * @returns null if the workflow is running, is paused, or has completed normally
 * @throws NoSuchMigration
 */
export async function readEndInTemporal(
  { temporalWithoutCodec: temporal }: Pick<MigrationClient, 'temporalWithoutCodec'>,
  migrationId: string,
  withinMs: number,
): Promise<EndedInTemporal | null> {
  const found = await temporal.withDeadline(Date.now() + withinMs, () =>
    describeIfFound(temporal.workflow, migrationId),
  );
  if (!found) throw new NoSuchMigration(migrationId);
  const abnormal = abnormalStatus(found.status.name);
  return abnormal && { status: abnormal, at: found.closeTime?.toISOString() ?? null };
}

/** How long a command that reads only the ledger waits for the status in Temporal, in milliseconds. */
const STATUS_WITHIN_MS = 3_000;

/**
 * Asks Temporal whether the workflow of a migration has ended abnormally although the migration has not ended in the
 * ledger, for example because somebody has terminated the workflow. Best effort, because the ledger alone can answer
 * the other questions about a migration.
 *
 * @returns null if the workflow has not ended abnormally, if the migration has ended or was not started, or if Temporal
 *   does not answer or does not know the workflow
 */
export async function readEndBeforeClosing(
  { temporalWithoutCodec }: Partial<Pick<MigrationClient, 'temporalWithoutCodec'>>,
  { id, ending, state }: Pick<StoredMigration, 'id' | 'ending' | 'state'>,
): Promise<EndedInTemporal | null> {
  if (!temporalWithoutCodec || ending !== null || state === 'supplied') return null;
  return readEndInTemporal({ temporalWithoutCodec }, id, STATUS_WITHIN_MS).catch(() => null);
}

/** Returns the stage of a migration: whether companies can still move. Without Temporal, only the ledger counts. */
export async function readStage(
  ferry: Partial<Pick<MigrationClient, 'temporalWithoutCodec'>>,
  migration: StoredMigration,
): Promise<MoveStage> {
  if ((await readEndBeforeClosing(ferry, migration)) !== null) return 'terminated';
  return migration.state === 'closed' ? 'ended' : 'open';
}

/**
 * Reads from the ledger the progress of a migration that has ended. Neither its workflow nor a worker is needed.
 *
 * @returns null if the migration has not ended
 */
export async function readProgressAfterEnd(
  { db }: Pick<LedgerClient, 'db'>,
  migration: StoredMigration,
): Promise<Progress | null> {
  return migration.ending === null ? null : progressFromLedger(db, migration);
}

/**
 * Reads the progress of a migration from the ledger, without the facts that only the workflow has, for example when its
 * details were checked. The step and the times of steps follow from the recorded decisions.
 */
export async function progressFromLedger(db: Database, migration: StoredMigration): Promise<Progress> {
  const { id, ending, route, rules, client, platformKey, contact } = migration;
  const [{ limits }, counts, recorded, effect, firstCompany, syncDisabledAt] = await Promise.all([
    readLimits(db, id),
    countCompanies(db, id),
    readDecisions(db, id),
    readRecordedDecisions(db, id),
    readFirstCompany(db, id),
    readSyncDisabledAt(db, id),
  ]);
  const applied = recorded.filter(({ outcome }) => outcome.applied);
  const last = ending === null || ending === 'completed' ? undefined : applied.at(-1);
  const plan: MigrationPlan = {
    ...{ migrationId: id, client, route, platformKey, contact, firstCompany: null, limits },
    decisions: rules ?? DEFAULT_DECISION_RULES,
  };
  const state: MigrationState = {
    ...newMigration(plan),
    ...{ closed: ending, counts, firstCompany, approvals: effect.approvals },
    step: stepByDecisions(route, effect, firstCompany !== null || counts.unconfirmed === 0),
    endedBy: last
      ? {
          ...{ by: last.decision.by, role: last.decision.role, reason: last.decision.reason ?? null },
          at: last.outcome.at,
        }
      : null,
  };
  const progress = progressOf(plan, state);
  // The times of steps follow from approvals, and the self-service route has none.
  if (route === 'self-service') return progress;
  return { ...progress, steps: withRecordedTimes(progress.steps, syncDisabledAt?.toISOString() ?? null) };
}
