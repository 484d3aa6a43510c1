/**
 * Checks that a workflow is the migration that its input names, or was started by that migration or its Schedule.
 * Anyone who may write to the namespace can start a workflow with any input. Without these checks, the workflow could
 * act for any migration.
 */
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { scheduleIdOf } from '../domain/migration/temporal-names';

/** @throws {ApplicationFailure} if this workflow's id is not the migration's */
export function assertIsMigration(migrationId: string): void {
  const { workflowId } = workflowInfo();
  if (workflowId !== migrationId) refuse(`${workflowId} cannot run as ${migrationId}: the ids differ`);
}

/** @throws {ApplicationFailure} if the migration did not start this workflow as its child */
export function assertIsChildOf(migrationId: string): void {
  if (workflowInfo().parent?.workflowId !== migrationId) refuse(`only ${migrationId} can start this workflow`);
}

/** @throws {ApplicationFailure} if the Schedule of the migration's windows did not start this workflow */
export function assertIsScheduledFor(migrationId: string): void {
  const scheduledBy: unknown = workflowInfo().searchAttributes['TemporalScheduledById']?.[0];
  if (scheduledBy !== scheduleIdOf(migrationId)) refuse(`only the Schedule of ${migrationId} can start this workflow`);
}

function refuse(why: string): never {
  throw ApplicationFailure.nonRetryable(why, 'NotItsMigration');
}
