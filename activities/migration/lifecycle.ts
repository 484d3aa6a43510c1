/** The activities that open a migration in the ledger, count its companies, begin a run, and pause the migration. */
import { ApplicationFailure, log } from '@temporalio/activity';
import { MAX_IN_FLIGHT } from '../../company-data-client';
import type { Counts } from '../../domain/companies/counts';
import { paceOf } from '../../domain/planning/pacing';
import {
  countWithMark,
  countWithThroughput,
  endOutage,
  openMigration,
  openVault,
  pauseForProblem,
  NotReleased,
} from '../../store';
import { startRun } from '../companies/runs';
import type { ActivityDeps, MigrationRef } from '../deps';

export interface RunStart {
  readonly slicesAtOnce: number;
  /** The counts when the run begins. Companies of an earlier run can still be syncing. */
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
      return countWithThroughput(db, migrationId);
    },

    /** Begins a batch run. Fails without a retry if no recorded decision has released all companies. */
    async beginRun({ migrationId, run }: MigrationRef & { run: string }): Promise<RunStart> {
      const limits = await startRun(db, migrationId, run).catch(asFinalFailure);
      // An earlier run that was terminated has not ended its outage.
      await endOutage(db, migrationId);
      const { slices } = paceOf(limits);
      const companies = Math.min(slices * limits.companiesPerSliceAtOnce, limits.companiesPerMinute ?? Infinity);
      if (companies > MAX_IN_FLIGHT) {
        const workers = Math.ceil(companies / MAX_IN_FLIGHT);
        log.warn(
          `the limits of the migration allow ${companies} companies in parallel, but one worker has at most ${MAX_IN_FLIGHT} authorizations in flight; run at least ${workers} workers to reach these limits, or lower the limits`,
          { migrationId },
        );
      }
      return { slicesAtOnce: slices, counts: await countWithMark(db, migrationId) };
    },

    /** Pauses the migration because of a problem. Only a recorded decision can resume it. */
    async pauseMigration({ migrationId }: MigrationRef): Promise<void> {
      await pauseForProblem(db, migrationId);
    },
  };
}

/** Makes a `NotReleased` failure non-retryable, because only another decision can release the companies. */
function asFinalFailure(error: unknown): never {
  if (error instanceof NotReleased) throw ApplicationFailure.nonRetryable(error.message, error.name);
  throw error;
}
