/**
 * Checks which workflow calls an activity. Anyone who may write to the namespace can call activities from their own
 * workflow, and so evade the checks in our workflows. An activity whose input names a migration therefore accepts calls
 * only from that migration's workflows, in the migration's namespace.
 */
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import {
  batchRunIdOf,
  closeWorkflowIdOf,
  reconcileWorkflowIdOf,
  isWindowWorkflowOf,
} from '../domain/migration/temporal-names';
import { readNamespace, type Database } from '../store';
import type { MigrationRef } from './deps';
import type { Activities } from './index';

type Caller = 'migration' | 'batch' | 'window' | 'closing' | 'reconciliation';

/** The workflows that can call each activity. Empty if every workflow can, because the input names no migration. */
const CALLERS: Readonly<Record<keyof Activities, readonly Caller[]>> = {
  openMigration: ['migration'],
  preflight: ['migration'],
  estimatePlan: ['migration'],
  estimateRemaining: ['migration'],
  countCompanies: ['migration', 'batch', 'closing'],
  recordDecisions: ['migration'],
  pauseMigration: ['migration'],
  findWindow: ['migration', 'window'],
  updateSchedule: ['migration', 'window'],
  deleteSchedule: ['migration', 'window', 'closing'],
  chooseFirstCompany: ['migration'],
  advanceFirstCompany: ['migration'],
  beginRun: ['batch'],
  probeService: [],
  importSlice: ['batch'],
  verifySlice: ['migration', 'batch', 'closing'],
  checkReconnected: ['migration'],
  recordTermination: ['closing'],
  resolveInterrupted: ['migration', 'closing', 'reconciliation'],
  closeMigration: ['migration', 'closing', 'reconciliation'],
  deleteUnused: ['migration', 'closing'],
  reconcileLedger: ['reconciliation'],
  findTerminated: [],
  sendNotice: ['migration'],
};

type AnyActivity = (input: MigrationRef) => Promise<unknown>;

/** Wraps activities so that a call from a workflow that `CALLERS` does not allow fails and is not retried. */
export function withCallerCheck(activities: Activities, db: Database): Activities {
  const checked = Object.entries<AnyActivity>(activities as unknown as Record<string, AnyActivity>).map(
    ([name, activity]): [string, AnyActivity] => {
      const callers = CALLERS[name as keyof Activities];
      if (callers.length === 0) return [name, activity];
      return [
        name,
        async (input) => {
          await assertCaller(db, callers, input.migrationId);
          return activity(input);
        },
      ];
    },
  );
  return Object.fromEntries(checked) as unknown as Activities;
}

async function assertCaller(db: Database, callers: readonly Caller[], migrationId: string): Promise<void> {
  const { workflowExecution, namespace } = activityInfo();
  const workflowId = workflowExecution?.workflowId ?? '';
  if (!callers.some((caller) => isCaller(caller, workflowId, migrationId)))
    refuse(`workflow ${workflowId} is not allowed to call this activity for ${migrationId}`);
  const own = await readNamespace(db, migrationId);
  if (own !== null && own !== namespace) refuse(`${migrationId} belongs to another Temporal namespace`);
}

function isCaller(caller: Caller, workflowId: string, migrationId: string): boolean {
  switch (caller) {
    case 'migration':
      return workflowId === migrationId;
    case 'batch':
      return workflowId === batchRunIdOf(migrationId);
    case 'closing':
      return workflowId === closeWorkflowIdOf(migrationId);
    case 'reconciliation':
      return workflowId === reconcileWorkflowIdOf(migrationId);
    case 'window':
      return isWindowWorkflowOf(migrationId, workflowId);
  }
}

function refuse(why: string): never {
  throw ApplicationFailure.nonRetryable(why, 'NotItsMigration');
}
