/** Reads the histories of a migration's workflows, and counts their billable actions. */
import type { LedgerClient } from '../client';

type Handle = ReturnType<LedgerClient['temporal']['workflow']['getHandle']>;
type HistoryEvent = NonNullable<Awaited<ReturnType<Handle['fetchHistory']>>['events']>[number];

/** One run of one workflow; continue-as-new starts another. */
export interface RunHistory {
  readonly workflowType: string;
  readonly events: readonly HistoryEvent[];
}

/** Returns every run of a migration and of its batch runs. */
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

/** The number of actions by kind, as Temporal Cloud bills them. */
export type Actions = Readonly<Record<string, number>>;

/**
 * Shorter than the real interval between the heartbeats of an activity, so that the count is an upper bound. A worker
 * sends them no more often than every 5 s (`HEARTBEAT_THROTTLE_MS` in worker/index.ts).
 */
const HEARTBEAT_INTERVAL_MS = 3_000;

/**
 * Counts actions as Temporal Cloud bills them: https://docs.temporal.io/cloud/actions (read on 2026-11-21). Histories
 * do not contain heartbeats or queries. For each activity that completes or fails, this adds the maximum number of
 * heartbeats of its last attempt, and for each signal that `ferry` sent, one query.
 */
export function actionsOf(runs: readonly RunHistory[]): Actions {
  const actions: Record<string, number> = {};
  const count = (kind: string, times = 1): void => void (actions[kind] = (actions[kind] ?? 0) + times);
  for (const { events } of runs) {
    const heartbeating = new Set<string>();
    const startedAt = new Map<string, number>();
    for (const event of events) {
      const { workflowExecutionStartedEventAttributes: start, activityTaskStartedEventAttributes: activity } = event;
      if (start) {
        // The start of a child is already counted in its parent's history.
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
        if (Number(heartbeatTimeout?.seconds ?? 0) > 0) heartbeating.add(String(event.eventId));
      } else if (activity) {
        count('activities', activity.attempt ?? 1);
        startedAt.set(String(activity.scheduledEventId), millis(event));
      }
      const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
      const scheduled = String(ended?.scheduledEventId);
      const since = startedAt.get(scheduled);
      if (ended && since !== undefined && heartbeating.has(scheduled)) {
        count('heartbeats', 1 + Math.floor((millis(event) - since) / HEARTBEAT_INTERVAL_MS));
      }
    }
  }
  return actions;
}

function millis({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
