/** What a batch run does while nothing gets through: it waits in everybody's sight, and asks now and then. */
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { ServiceUnavailable } from '../../activities/companies/batch';
import type { Outage } from '../../domain/migration/outage';
import { outageSummary } from '../../domain/migration/outage';
import { shortActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { standstillSignal } from '../messages';

/** Between two tries, where the service does not say how long to wait. */
const WAIT = { shortestMs: 2_000, longestMs: 5 * 60_000 };

/** What it needs of the run. */
export interface OutageContext {
  /** The migration that has started it; undefined: nobody has to be told anything. */
  readonly migration: ExternalWorkflowHandle | undefined;
  /** Whether nothing more is to be begun. */
  readonly isOver: () => boolean;
  readonly pause: (ms: number, summary: string) => Promise<void>;
}

export interface OutageWait {
  /** Something got through: the next wait is a short one. */
  eased(): void;
  /** Waits at least so long, and until the service answers again; whoever comes meanwhile waits along. Milliseconds. */
  whileBlocked(why: string, atLeastMs: number): Promise<void>;
}

export function createOutageWait({ migration, isOver, pause }: OutageContext): OutageWait {
  let wait = backoff(WAIT);
  let current: Promise<void> | null = null;

  async function untilAnswered(first: ServiceUnavailable): Promise<void> {
    const since = new Date().toISOString();
    for (
      let trouble: ServiceUnavailable | null = first;
      trouble !== null && !isOver();
      trouble = await shortActivities.askService()
    ) {
      const ms = wait(trouble.afterMs, false);
      const standstill: Outage = { why: trouble.why, since, until: new Date(Date.now() + ms).toISOString() };
      await migration?.signal(standstillSignal, standstill);
      // Whoever decides something meanwhile has it tried at once.
      await pause(ms, outageSummary(standstill));
    }
    await migration?.signal(standstillSignal, null);
  }

  return {
    eased: () => {
      wait = backoff(WAIT);
    },
    whileBlocked: (why, afterMs) =>
      (current ??= untilAnswered({ why, afterMs }).finally(() => {
        current = null;
      })),
  };
}
