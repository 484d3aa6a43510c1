/** The lifecycle of a migration in the ledger: open, begin a run, record decisions, close. */
import type { Counts } from '../../domain/companies/company-state';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { paceOf } from '../../domain/planning/pacing';
import type { Ending, DecisionRecord } from '../../domain/migration/migration-state';
import {
  acceptFailures,
  advanceRamp,
  beginRun,
  changeLimits,
  closeMigration,
  confirmDisabled,
  countCompanies,
  destroyVault,
  openMigration,
  openVault,
  isRampInProgress,
  readLimits,
  recordDecisions,
  setPaused,
  stopClaims,
  withdrawConfirmations,
} from '../../store';
import type { ActivityDeps } from '../deps';
import { isExceptionDecision, applyAndRecord } from './exceptions';
import { updateWindowOccurrence } from './windows';

interface MigrationRef {
  readonly migrationId: string;
}

export interface RunStart {
  readonly slicesAtOnce: number;
  /** The counts when the run begins. Companies of an earlier run may still be syncing. */
  readonly counts: Counts;
}

export function lifecycleActivities(deps: ActivityDeps) {
  const { db, keys } = deps;
  return {
    async openMigration({ migrationId }: MigrationRef): Promise<void> {
      await openMigration(db, migrationId);
      await openVault(db, keys, migrationId);
    },

    async countCompanies({ migrationId }: MigrationRef): Promise<Counts> {
      return countCompanies(db, migrationId);
    },

    async beginRun({ migrationId, run, ramp }: MigrationRef & { run: string; ramp: boolean }): Promise<RunStart> {
      const { limits } = await readLimits(db, migrationId);
      // An interrupted ramp continues, because the other companies wait until it has succeeded.
      const inRamp = ramp || (await isRampInProgress(db, migrationId));
      await beginRun(db, migrationId, run, inRamp ? limits.rampCompanies : 0);
      return { slicesAtOnce: paceOf(limits).slices, counts: await countCompanies(db, migrationId) };
    },

    async setPaused({ migrationId, paused }: MigrationRef & { paused: boolean }): Promise<void> {
      await setPaused(db, migrationId, paused);
    },

    /**
     * Applies each decision to the ledger before it records the decision, so that the audit trail never contains more
     * than was done.
     */
    async recordDecisions({
      migrationId,
      recorded,
    }: MigrationRef & { recorded: readonly DecisionRecord[] }): Promise<Counts> {
      for (const each of recorded) {
        const { decision, outcome } = each;
        if (outcome.applied && isExceptionDecision(decision))
          await applyAndRecord(db, migrationId, { decision, outcome });
        else {
          if (outcome.applied && decision.kind !== 'unreadable') await apply(deps, migrationId, decision, outcome);
          await recordDecisions(db, migrationId, [each]);
        }
      }
      return countCompanies(db, migrationId);
    },

    async closeMigration({ migrationId, ending }: MigrationRef & { ending: Ending }): Promise<Counts> {
      await closeMigration(db, migrationId, ending);
      await destroyVault(db, keys, migrationId);
      return countCompanies(db, migrationId);
    },
  };
}

/** Applies a decision to the ledger. Idempotent. */
async function apply(deps: ActivityDeps, migrationId: string, decision: Decision, { at }: Outcome): Promise<void> {
  const { db } = deps;
  switch (decision.kind) {
    case 'sync-disabled':
      return confirmDisabled(db, { migrationId, companies: decision.companies, by: decision.by, at });
    case 'pause':
      return setPaused(db, migrationId, true);
    case 'resume':
      // A resume accepts the failures so far, because the person who resumes the migration has seen them.
      await acceptFailures(db, migrationId);
      return setPaused(db, migrationId, false);
    case 'step':
      if (decision.verdict === 'reject' && decision.step === 'disable-syncing') {
        await withdrawConfirmations(db, migrationId);
      }
      return;
    case 'time':
      if (decision.windows) await changeLimits(db, migrationId, { windows: decision.windows });
      return;
    case 'adjust':
      await changeLimits(db, migrationId, decision.limits);
      // A running batch follows the new windows from its next claim.
      if (decision.limits.windows) await updateWindowOccurrence(deps, migrationId);
      if (decision.limits.rampCompanies === 0) await advanceRamp(db, migrationId);
      return;
    case 'cancel':
      return stopClaims(db, migrationId);
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
    case 'first-company':
    case 'application-supplied':
    case 'manifest-amended':
    case 'credentials-supplied':
      return;
  }
}
