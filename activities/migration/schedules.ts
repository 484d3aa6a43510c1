/**
 * Keeps a migration's windows in a Temporal Schedule, so that people can see, pause and trigger them with Temporal's
 * own tools.
 */
import { randomUUID } from 'node:crypto';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleClient,
  type ScheduleDescription,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { OPEN_WINDOW, scheduleIdOf, windowWorkflowIdOf } from '../../domain/migration/temporal-names';
import { LONGEST_OCCURRENCE_MS, type WindowOccurrence, type ScheduleState } from '../../domain/planning/windows';
import { TASK_QUEUE } from '../../workflows/messages';
import type { WindowSchedules } from '../deps';

/** The maximum number of occurrences in a Schedule. Later ones are added when earlier ones have passed. */
const MAX_OCCURRENCES = 30;

export function createWindowSchedules(client: ScheduleClient): WindowSchedules {
  /**
   * Updates an existing Schedule, or deletes it if no occurrences are left. Returns undefined if the Schedule does not
   * exist.
   */
  async function refresh(
    migrationId: string,
    occurrences: readonly WindowOccurrence[],
  ): Promise<ScheduleState | undefined> {
    const handle = client.getHandle(scheduleIdOf(migrationId));
    return ifExists(async () => {
      if (occurrences.length === 0) {
        await handle.delete();
        return 'none';
      }
      const { raw, state } = await handle.describe();
      await setOccurrences(handle.scheduleId, occurrences, raw);
      return state.paused ? 'paused' : 'running';
    });
  }

  /**
   * Changes only the occurrences and the catch-up window. If a person pauses or resumes the Schedule at the same
   * moment, the conflict token makes Temporal drop this change, and the next update applies it. The SDK's own `update`
   * would undo the pause.
   */
  async function setOccurrences(
    scheduleId: string,
    occurrences: readonly WindowOccurrence[],
    described: Described,
  ): Promise<void> {
    const { namespace, identity } = client.options;
    const { cronExpressions, timezone } = specOf(occurrences);
    const schedule = {
      ...described.schedule,
      spec: { cronString: cronExpressions, timezoneName: timezone },
      policies: { ...described.schedule?.policies, catchupWindow: msToTs(longestOf(occurrences)) },
    };
    const { conflictToken } = described;
    await client.workflowService.updateSchedule({
      ...{ namespace, identity, scheduleId, schedule, requestId: randomUUID() },
      ...(conflictToken ? { conflictToken } : {}),
    });
  }

  async function update(migrationId: string, occurrences: readonly WindowOccurrence[]): Promise<ScheduleState> {
    const updated = await refresh(migrationId, occurrences);
    if (updated !== undefined || occurrences.length === 0) return updated ?? 'none';
    try {
      await client.create({ scheduleId: scheduleIdOf(migrationId), ...scheduleOf(migrationId, occurrences) });
      return 'running';
    } catch (error) {
      // An earlier attempt of this activity has created the Schedule.
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      return update(migrationId, occurrences);
    }
  }

  return { update, refresh: async (migrationId, occurrences) => void (await refresh(migrationId, occurrences)) };
}

type Described = ScheduleDescription['raw'];

async function ifExists<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function scheduleOf(migrationId: string, occurrences: readonly WindowOccurrence[]) {
  return {
    spec: specOf(occurrences),
    action: {
      type: 'startWorkflow' as const,
      workflowType: OPEN_WINDOW,
      workflowId: windowWorkflowIdOf(migrationId),
      args: [{ migrationId }],
      taskQueue: TASK_QUEUE,
      staticSummary: `Open a window of ${migrationId}`,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: longestOf(occurrences), pauseOnFailure: false },
  };
}

/** Returns the occurrences as instants in UTC, which already take daylight saving time into account. */
function specOf(occurrences: readonly WindowOccurrence[]): { cronExpressions: string[]; timezone: string } {
  return {
    cronExpressions: occurrences.slice(0, MAX_OCCURRENCES).map(({ opensAt }) => onceAt(new Date(opensAt))),
    timezone: 'UTC',
  };
}

/** Returns a cron expression for one instant: second, minute, hour, day, month, any weekday, year. */
function onceAt(at: Date): string {
  const clock = [at.getUTCSeconds(), at.getUTCMinutes(), at.getUTCHours()];
  return [...clock, at.getUTCDate(), at.getUTCMonth() + 1, '*', at.getUTCFullYear()].join(' ');
}

/**
 * Returns the length of the longest window in milliseconds, at most {@link LONGEST_OCCURRENCE_MS}. If Temporal misses
 * the opening of a window, it can still start the work up to this much later.
 */
function longestOf(occurrences: readonly WindowOccurrence[]): number {
  const lengths = occurrences.map(({ opensAt, closesAt }) => Date.parse(closesAt) - Date.parse(opensAt));
  return Math.min(Math.max(...lengths), LONGEST_OCCURRENCE_MS);
}
