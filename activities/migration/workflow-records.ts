/** Reads from Temporal the facts that a restored ledger might have lost. */
import type { Client } from '@temporalio/client';
import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Payload, SerializationContext } from '@temporalio/common';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { isEnding } from '../../domain/migration/migration-state';
import { ledgerMarkQuery, MIGRATIONS } from '../../workflows/messages';
import type { WorkflowRecords } from '../deps';
import type { RecordedBatch } from './decisions';

/** @param client must decode payloads */
export function createWorkflowRecords(client: Client): WorkflowRecords {
  const { workflow } = client;
  return {
    statusOf: async (migrationId) => {
      const handle = workflow.getHandle(migrationId);
      try {
        const { status } = await handle.describe();
        if (status.name === 'RUNNING' || status.name === 'PAUSED')
          return { workflow: 'running', ledgerMark: await handle.query(ledgerMarkQuery) };
        const { ending = '' } =
          status.name === 'COMPLETED' ? ((await handle.result()) as { readonly ending?: string }) : {};
        return { workflow: isEnding(ending) ? ending : 'gone', ledgerMark: 0 };
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return { workflow: 'gone', ledgerMark: 0 };
        throw error;
      }
    },
    decisionsOf: async (migrationId) => {
      const runs: (readonly DecisionRecord[])[] = [];
      try {
        // A migration that continues as new has several runs.
        for (let runId: string | undefined; ;) {
          const { recorded, previousRunId } = await readRun(client, migrationId, runId);
          runs.unshift(recorded);
          if (!previousRunId) break;
          runId = previousRunId;
        }
      } catch (error) {
        // Temporal keeps earlier runs for the retention period only.
        if (!isNotFound(error)) throw error;
      }
      return runs.flat();
    },
  };
}

/** Reading a history throws a raw gRPC error; all other calls throw the Temporal client's own errors. */
function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND);
}

/** The gRPC status code NOT_FOUND. */
const NOT_FOUND = 5;

/** Reads the decisions of one run: what was given to `recordDecisions`, with the outcomes that it returned. */
async function readRun(
  { workflow, options }: Client,
  migrationId: string,
  runId: string | undefined,
): Promise<{ readonly recorded: readonly DecisionRecord[]; readonly previousRunId?: string | null }> {
  const { events } = await workflow.getHandle(migrationId, runId).fetchHistory();
  const [first] = events ?? [];
  const started = first?.workflowExecutionStartedEventAttributes;
  const isMigration = (Object.values(MIGRATIONS) as readonly unknown[]).includes(started?.workflowType?.name);
  if (!isMigration) return { recorded: [] };
  const context: SerializationContext = {
    ...{ type: 'activity', namespace: options.namespace, workflowId: migrationId, isLocal: false },
  };
  const decode = async (payloads: Payload[] | null | undefined): Promise<unknown> =>
    (await decodeArrayFromPayloads(options.loadedDataConverter, payloads, context))[0];
  const batches = new Map<string, readonly DecisionRecord[]>();
  for (const { eventId, activityTaskScheduledEventAttributes: scheduled, ...event } of events ?? []) {
    if (scheduled?.activityType?.name === 'recordDecisions') {
      const input = (await decode(scheduled.input?.payloads)) as { readonly recorded?: readonly DecisionRecord[] };
      batches.set(String(eventId), input.recorded ?? []);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const batch = batches.get(String(completed?.scheduledEventId));
    if (!batch) continue;
    // The ledger can refuse a decision that the workflow has applied.
    const { outcomes } = (await decode(completed?.result?.payloads)) as RecordedBatch;
    const records = batch.map((record, index) => ({ ...record, outcome: outcomes[index] ?? record.outcome }));
    batches.set(String(completed?.scheduledEventId), records);
  }
  return { recorded: [...batches.values()].flat(), previousRunId: started?.continuedExecutionRunId ?? null };
}
