/** A migration's windows as a Temporal Schedule: its openings are seen, paused and triggered in Temporal's own tools. */
import { randomUUID } from 'node:crypto';
import type { ScheduleClient, ScheduleDescription } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { OPEN_WINDOW, scheduleIdOf } from '../../domain/migration/plan';
import type { WindowOccurrence, ScheduleState } from '../../domain/planning/windows';
import { TASK_QUEUE } from '../../workflows/messages';
import type { WindowSchedules } from '../deps';

/** More than these are listed once the first of them have opened. */
const LISTED = 30;

export function createWindowSchedules(client: ScheduleClient): WindowSchedules {
  /** Undefined: it is not there. */
  async function refreshed(
    migrationId: string,
    openings: readonly WindowOccurrence[],
  ): Promise<ScheduleState | undefined> {
    const handle = client.getHandle(scheduleIdOf(migrationId));
    return ifThere(async () => {
      if (openings.length === 0) {
        await handle.delete();
        return 'none';
      }
      const { raw, state } = await handle.describe();
      await list(handle.scheduleId, openings, raw);
      return state.paused ? 'paused' : 'running';
    });
  }

  /**
   * Changes the openings alone. What somebody pauses or resumes in the same moment stays so: then Temporal drops this
   * change, and the openings are listed with the next look. (The client's own `update` would write back what it had read.)
   */
  async function list(scheduleId: string, openings: readonly WindowOccurrence[], described: Described): Promise<void> {
    const { namespace, identity } = client.options;
    const { cronExpressions, timezone } = specOf(openings);
    const schedule = {
      ...described.schedule,
      spec: { cronString: cronExpressions, timezoneName: timezone },
      policies: { ...described.schedule?.policies, catchupWindow: msToTs(longestOf(openings)) },
    };
    const { conflictToken } = described;
    await client.workflowService.updateSchedule({
      ...{ namespace, identity, scheduleId, schedule, requestId: randomUUID() },
      ...(conflictToken ? { conflictToken } : {}),
    });
  }

  async function keep(migrationId: string, openings: readonly WindowOccurrence[]): Promise<ScheduleState> {
    const known = await refreshed(migrationId, openings);
    if (known !== undefined || openings.length === 0) return known ?? 'none';
    try {
      await client.create({ scheduleId: scheduleIdOf(migrationId), ...scheduleOf(migrationId, openings) });
      return 'running';
    } catch (error) {
      // An attempt before this one made it.
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      return keep(migrationId, openings);
    }
  }

  return { keep, refresh: async (migrationId, openings) => void (await refreshed(migrationId, openings)) };
}

type Described = ScheduleDescription['raw'];

async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function scheduleOf(migrationId: string, openings: readonly WindowOccurrence[]) {
  return {
    spec: specOf(openings),
    action: {
      type: 'startWorkflow' as const,
      workflowType: OPEN_WINDOW,
      workflowId: `${migrationId}.window`,
      args: [{ migrationId }],
      taskQueue: TASK_QUEUE,
      staticSummary: `A window of ${migrationId} opens`,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: longestOf(openings), pauseOnFailure: false },
  };
}

/** The openings as instants: a change of the clock has been reckoned with already. */
function specOf(openings: readonly WindowOccurrence[]): { cronExpressions: string[]; timezone: string } {
  return {
    cronExpressions: openings.slice(0, LISTED).map(({ opensAt }) => onceAt(new Date(opensAt))),
    timezone: 'UTC',
  };
}

/** Second, minute, hour, day, month, any weekday, year. */
function onceAt(at: Date): string {
  const clock = [at.getUTCSeconds(), at.getUTCMinutes(), at.getUTCHours()];
  return [...clock, at.getUTCDate(), at.getUTCMonth() + 1, '*', at.getUTCFullYear()].join(' ');
}

/** An opening that Temporal missed is made up for as long as its window is open. Milliseconds. */
function longestOf(openings: readonly WindowOccurrence[]): number {
  return Math.max(...openings.map(({ opensAt, closesAt }) => Date.parse(closesAt) - Date.parse(opensAt)));
}
