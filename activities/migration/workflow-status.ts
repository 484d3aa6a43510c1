/** Reads the status of migrations from Temporal. */
import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import { migrationOfSchedule } from '../../domain/migration/temporal-names';
import type { WorkflowStatus } from '../deps';

/** @param client must not decode payloads, because the payload key of a migration can be missing */
export function createWorkflowStatus({ schedule, workflow }: Client): WorkflowStatus {
  return {
    statusOf: async (migrationId) => {
      try {
        return statusOf((await workflow.getHandle(migrationId).describe()).status.name);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
    scheduled: async () => {
      const migrations: string[] = [];
      for await (const listed of schedule.list()) {
        const migrationId = migrationOfSchedule(listed);
        if (migrationId !== undefined) migrations.push(migrationId);
      }
      return migrations;
    },
  };
}

function statusOf(status: WorkflowExecutionStatusName): Awaited<ReturnType<WorkflowStatus['statusOf']>> {
  switch (status) {
    case 'RUNNING':
    case 'PAUSED':
      return 'running';
    case 'TERMINATED':
    case 'TIMED_OUT':
      return 'terminated';
    default:
      return 'unknown';
  }
}
