/** What a migration leaves in Temporal: the histories of its workflows. */
import type { LedgerClient } from '../client';

type Handle = ReturnType<LedgerClient['temporal']['workflow']['getHandle']>;
type HistoryEvent = NonNullable<Awaited<ReturnType<Handle['fetchHistory']>>['events']>[number];

/** One run of one workflow: what continues as new is another. */
export interface RunHistory {
  readonly workflowType: string;
  readonly events: readonly HistoryEvent[];
}

/** Every run of a migration and of its batch. */
export async function historiesOf(
  { temporal: { workflow } }: LedgerClient,
  migrationId: string,
): Promise<readonly RunHistory[]> {
  const runs: RunHistory[] = [];
  const query = `WorkflowId = '${migrationId}' or WorkflowId = '${migrationId}.batch'`;
  for await (const { workflowId, runId, type } of workflow.list({ query })) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowType: type, events: events ?? [] });
  }
  return runs;
}

/** Each kind of action that Temporal Cloud bills, and how many there were. */
export type Actions = Readonly<Record<string, number>>;

/** The SDK sends the heartbeats of one activity no more often: see `worker/index.ts`. */
const HEARTBEATS_APART_MS = 3_000;

/**
 * Counts actions as Temporal Cloud bills them: https://docs.temporal.io/cloud/actions (read on 2026-11-21). What no
 * history shows is added: the most heartbeats that may have reached the server, and the question after each decision
 * by which `ferry` learns what became of it.
 */
export function actionsOf(runs: readonly RunHistory[]): Actions {
  const actions: Record<string, number> = {};
  const count = (kind: string, times = 1): void => void (actions[kind] = (actions[kind] ?? 0) + times);
  for (const { events } of runs) {
    const beating = new Set<string>();
    const startedAt = new Map<string, number>();
    for (const event of events) {
      const { workflowExecutionStartedEventAttributes: start, activityTaskStartedEventAttributes: activity } = event;
      if (start) {
        // A child's start is counted by its parent.
        if (!start.parentWorkflowExecution) count('workflows started');
      } else if (event.startChildWorkflowExecutionInitiatedEventAttributes) count('child workflows', 2);
      else if (event.timerStartedEventAttributes) count('timers');
      else if (event.upsertWorkflowSearchAttributesEventAttributes) count('search attributes');
      else if (event.markerRecordedEventAttributes) count('markers');
      else if (event.workflowExecutionUpdateAcceptedEventAttributes) count('updates');
      else if (event.workflowExecutionSignaledEventAttributes) {
        count('signals');
        if (!event.workflowExecutionSignaledEventAttributes.externalWorkflowExecution) count('queries');
      } else if (event.activityTaskScheduledEventAttributes) {
        const { heartbeatTimeout } = event.activityTaskScheduledEventAttributes;
        if (Number(heartbeatTimeout?.seconds ?? 0) > 0) beating.add(String(event.eventId));
      } else if (activity) {
        count('activities', activity.attempt ?? 1);
        startedAt.set(String(activity.scheduledEventId), millis(event));
      }
      const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
      const scheduled = String(ended?.scheduledEventId);
      const since = startedAt.get(scheduled);
      if (ended && since !== undefined && beating.has(scheduled)) {
        count('heartbeats', 1 + Math.floor((millis(event) - since) / HEARTBEATS_APART_MS));
      }
    }
  }
  return actions;
}

function millis({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
