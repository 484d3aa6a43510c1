/** Runs workflows under fixed ids, which other programs could occupy. */
import {
  isGrpcCancelledError,
  isGrpcDeadlineError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowClient,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import {
  batchRunIdOf,
  closeWorkflowIdOf,
  occupiedText,
  reconcileWorkflowIdOf,
} from '../domain/migration/temporal-names';
import { BATCH_RUN, CLOSE_TERMINATED, RECONCILE, TASK_QUEUE } from '../workflows/messages';
import type { LedgerClient } from './connect';
import { RepairUnfinished, WorkflowHadNoEffect, WorkflowIdOccupied } from './errors';

export interface WorkflowWithFixedId {
  readonly type: string;
  readonly workflowId: string;
  readonly args: readonly [object];
  readonly staticSummary: string;
}

/**
 * Runs a workflow, or joins the one that an earlier call has started under the same id. If a joined workflow fails or
 * ends without an effect, the workflow is started once more.
 *
 * @param effectOf waits for the workflow and returns what it has changed, as the ledger shows it; null if it has
 * changed nothing. The workflow's result proves nothing: another program could have started the workflow, or could run
 * the worker that returned the result
 * @throws {WorkflowIdOccupied} if a workflow that does something else already has the id, or if two joined workflows
 * have failed or ended without an effect
 * @throws {WorkflowHadNoEffect} if the workflow that this call has started ends without an effect
 */
export async function runUntilEffect<T>(
  { temporal: { workflow }, temporalWithoutCodec }: Pick<LedgerClient, 'temporal' | 'temporalWithoutCodec'>,
  { type, workflowId, args, staticSummary }: WorkflowWithFixedId,
  effectOf: (handle: WorkflowHandle) => Promise<T | null>,
): Promise<T> {
  async function startOrJoin(): Promise<{ readonly handle: WorkflowHandle; readonly isJoined: boolean }> {
    try {
      const options = { workflowId, args: [...args], taskQueue: TASK_QUEUE, staticSummary };
      return { handle: await workflow.start(type, options), isJoined: false };
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Reads the workflow without the codec, because its memo could be encrypted under a payload key that this process
      // does not have.
      const existing = await temporalWithoutCodec.workflow.getHandle(workflowId).describe();
      if (!isOurs(existing, type)) throw new WorkflowIdOccupied(occupiedText(workflowId));
      return { handle: workflow.getHandle(workflowId), isJoined: true };
    }
  }

  for (let tries = 1; tries <= 2; tries += 1) {
    const { handle, isJoined } = await startOrJoin();
    try {
      const effect = await effectOf(handle);
      if (effect !== null) return effect;
    } catch (error) {
      // Neither error says that a joined workflow has failed: it can still run.
      if (!isJoined || error instanceof ServiceError || error instanceof RepairUnfinished) throw error;
    }
    if (!isJoined)
      throw new WorkflowHadNoEffect(`the workflow ${workflowId} has ended, but has changed nothing in the ledger`);
  }
  throw new WorkflowIdOccupied(occupiedText(workflowId));
}

/**
 * Waits for the result of a workflow.
 *
 * @returns null if the workflow has not ended within `withinMs` milliseconds
 */
export async function resultWithin(
  withinMs: number,
  temporal: Client,
  handle: WorkflowHandle,
): Promise<{ readonly result: unknown } | null> {
  const deadline = Date.now() + withinMs;
  try {
    return { result: await temporal.withDeadline(deadline, () => handle.result()) };
  } catch (error) {
    if (isGrpcDeadlineError(error)) return null;
    // The server resets the call at the deadline. If this arrives before the timer of a busy client has fired, gRPC
    // reports the call as cancelled.
    if (isGrpcCancelledError(error) && Date.now() > deadline - RESET_BEFORE_DEADLINE_MS) return null;
    throw error;
  }
}

/** The server's deadline can differ from the client's by the time that the request has taken. */
const RESET_BEFORE_DEADLINE_MS = 1_000;

/** Returns which of the ids of a migration's workflows are occupied by workflows that do something else. */
export async function findOccupiedIds(
  { temporalWithoutCodec: { workflow } }: Pick<LedgerClient, 'temporalWithoutCodec'>,
  migrationId: string,
): Promise<readonly string[]> {
  const isOccupied = async (workflowId: string, type: string): Promise<boolean> => {
    const existing = await describeIfFound(workflow, workflowId);
    if (!existing || !isInProgress(existing)) return false;
    const isStray = type === BATCH_RUN && existing.parentExecution?.workflowId !== migrationId;
    return isStray || !isOurs(existing, type);
  };
  const ids = [
    [batchRunIdOf(migrationId), BATCH_RUN],
    [closeWorkflowIdOf(migrationId), CLOSE_TERMINATED],
    [reconcileWorkflowIdOf(migrationId), RECONCILE],
  ] as const;
  const occupied = await Promise.all(ids.map(([workflowId, type]) => isOccupied(workflowId, type)));
  return ids.map(([workflowId]) => workflowId).filter((_, index) => occupied[index]);
}

/** Returns whether a batch run of the migration is in progress. */
export async function isBatchRunning(
  { temporalWithoutCodec: { workflow } }: Pick<LedgerClient, 'temporalWithoutCodec'>,
  migrationId: string,
): Promise<boolean> {
  const run = await describeIfFound(workflow, batchRunIdOf(migrationId));
  if (!run) return false;
  return isInProgress(run) && isOurs(run, BATCH_RUN) && run.parentExecution?.workflowId === migrationId;
}

/** Describes a workflow; null if Temporal does not have it. */
export async function describeIfFound(
  workflow: WorkflowClient,
  workflowId: string,
): Promise<WorkflowExecutionDescription | null> {
  try {
    return await workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Returns whether a workflow has not ended. */
export function isInProgress({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

function isOurs(existing: { readonly type: string; readonly taskQueue: string }, type: string): boolean {
  return existing.type === type && existing.taskQueue === TASK_QUEUE;
}
