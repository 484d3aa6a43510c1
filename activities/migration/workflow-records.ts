/**
 * Reads from Temporal the facts that a restored ledger might have lost. Once a migration has been terminated, anyone
 * who may write to the namespace can start another workflow under its id, so the answers and the history of the
 * workflow are checked. If they are malformed, reading them fails without a retry.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { isGrpcServiceError, WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time';
import type { Payload, SerializationContext } from '@temporalio/common';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { parseRecord, withBoundedTime } from '../../domain/migration/decision-record';
import { isEnding, type DecisionRecord } from '../../domain/migration/migration-state';
import { ledgerMarkQuery, MIGRATIONS } from '../../workflows/messages';
import { isKeyId, UnknownPayloadKey } from '../../security';
import type { WorkflowRecords } from '../deps';

/** @param client must decode payloads */
export function createWorkflowRecords(client: Client): WorkflowRecords {
  const { workflow } = client;
  return {
    stateAndMarkOf: async (migrationId) => {
      const handle = workflow.getHandle(migrationId);
      try {
        const { status, type } = await handle.describe();
        if (!isMigrationType(type)) return { workflow: 'gone', ledgerMark: 0 };
        if (status.name === 'RUNNING' || status.name === 'PAUSED')
          return { workflow: 'running', ledgerMark: await queryMark(handle) };
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

function isMigrationType(type: unknown): boolean {
  return (Object.values(MIGRATIONS) as readonly unknown[]).includes(type);
}

/** A mark that no migration can exceed: it allows a million claims for each of a million companies. */
const HIGHEST_MARK = 1_000_000_000_000;

async function queryMark(handle: WorkflowHandle): Promise<number> {
  const mark: unknown = await handle.query(ledgerMarkQuery);
  if (typeof mark === 'number' && Number.isInteger(mark) && mark >= 0 && mark <= HIGHEST_MARK) return mark;
  throw malformed(handle.workflowId, 'its ledger mark is not a number that a migration can reach');
}

/**
 * Creates a failure that is not retried, because a retry would read the same malformed data. It has no cause, because
 * `ferry` prints only the message of the deepest cause.
 */
function malformed(migrationId: string, what: string): ApplicationFailure {
  const message = `the workflow ${migrationId} is not a migration of Tokenferry, or its history was changed: ${what}. Somebody has probably started another workflow under this id, or completed an activity in place of a worker; in both cases, this workflow cannot be used to repair the ledger. Find out who has write access to the Temporal namespace. Then terminate the workflow unless it has ended, close the migration with: ferry sweep --close ${migrationId}, and start a migration of the remaining companies with another --label`;
  return ApplicationFailure.create({ message, type: 'MalformedHistory', nonRetryable: true });
}

/**
 * Returns whether Temporal does not have the workflow or its history. The call that reads a history rejects with a raw
 * gRPC error; all other calls reject with the Temporal client's own errors.
 */
function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND);
}

/** The remedy if no process has the key. Names a heading of the runbook. */
const FOLLOW_RUNBOOK = 'follow docs/runbook.md under "A result that nobody can decrypt"';

/** Creates a failure that is not retried, because the worker gets no further payload key while it runs. */
function keyMissing(migrationId: string, { keyId, message: why }: UnknownPayloadKey): ApplicationFailure {
  // Without a valid id, no key can be added, so reconciling again would fail again.
  const message = isKeyId(keyId)
    ? `a worker cannot read the history of ${migrationId}, because payload key ${keyId} is missing. If nobody has this key, ${FOLLOW_RUNBOOK}. Otherwise, start every worker with payload key ${keyId} as well, and then run: ferry reconcile ${migrationId}`
    : `a worker cannot read the history of ${migrationId}. ${why} Tokenferry does not write such payloads: find out who has write access to the Temporal namespace, and ${FOLLOW_RUNBOOK}`;
  // Has no cause either: see malformed.
  return ApplicationFailure.create({ message, type: 'UnknownPayloadKey', nonRetryable: true });
}

/** The gRPC status code NOT_FOUND. */
const NOT_FOUND = 5;

/** Reads the decisions that one run passed to `recordDecisions`, with the outcomes that the activity returned. */
async function readRun(
  { workflow, options }: Client,
  migrationId: string,
  runId: string | undefined,
): Promise<{ readonly recorded: readonly DecisionRecord[]; readonly previousRunId?: string | null }> {
  const { events } = await workflow.getHandle(migrationId, runId).fetchHistory();
  const [first] = events ?? [];
  const started = first?.workflowExecutionStartedEventAttributes;
  if (!isMigrationType(started?.workflowType?.name)) return { recorded: [] };
  const context: SerializationContext = {
    ...{ type: 'activity', namespace: options.namespace, workflowId: migrationId, isLocal: false },
  };
  const decode = async (payloads: Payload[] | null | undefined, eventId: unknown): Promise<unknown> =>
    decodeArrayFromPayloads(options.loadedDataConverter, payloads, context).then(
      ([value]) => value,
      (error: unknown) => {
        if (error instanceof UnknownPayloadKey) throw keyMissing(migrationId, error);
        throw malformed(migrationId, `the payload of event ${String(eventId)} of its history is unreadable`);
      },
    );
  const batches = new Map<string, Batch>();
  for (const { eventId, eventTime, activityTaskScheduledEventAttributes: scheduled, ...event } of events ?? []) {
    if (scheduled?.activityType?.name === 'recordDecisions') {
      const input = await decode(scheduled.input?.payloads, eventId);
      batches.set(String(eventId), { given: listIn(input, 'recorded'), at: new Date(tsToMs(eventTime)) });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const batch = batches.get(String(completed?.scheduledEventId));
    // The ledger's outcomes replace the workflow's, because the ledger can refuse an applied decision.
    if (batch) batch.outcomes = listIn(await decode(completed?.result?.payloads, eventId), 'outcomes');
  }
  const recorded = [...batches].flatMap(([eventId, { given, outcomes = [], at }]) =>
    given.map((each, index) => {
      const record = parseRecord({
        ...(each as object),
        ...(outcomes[index] === undefined ? {} : { outcome: outcomes[index] }),
      });
      if (!record) throw malformed(migrationId, `a decision in event ${eventId} of its history is malformed`);
      return withBoundedTime(record, at);
    }),
  );
  return { recorded, previousRunId: started?.continuedExecutionRunId ?? null };
}

/** One call of `recordDecisions`: the records that a workflow passed, and the outcomes that it got. */
interface Batch {
  readonly given: readonly unknown[];
  /** When the workflow asked Temporal to run the activity, by Temporal's clock. */
  readonly at: Date;
  /** Undefined until the activity has completed. */
  outcomes?: readonly unknown[];
}

function listIn(value: unknown, field: string): readonly unknown[] {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
  return Array.isArray(list) ? list : [value];
}
