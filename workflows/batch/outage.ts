/**
 * Outages during a batch run: nothing gets through to the service or to its platform.
 *
 * The run then starts nothing, asks the service at growing intervals whether it responds, and tells the migration,
 * which shows the outage to people. It continues by itself; no decision is needed.
 */
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { ServiceUnavailable } from '../../activities/companies/batch';
import type { Outage } from '../../domain/migration/outage';
import { outageSummary } from '../../domain/migration/outage';
import { shortActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { outageSignal } from '../messages';

/** Between two probes, where the service does not say how long to wait. */
const PROBE_DELAY = { shortestMs: 2_000, longestMs: 5 * 60_000 };

/** The part of a run that an outage needs. */
export interface OutageContext {
  /** The migration that has started the run; undefined: the run has no parent. */
  readonly migration: ExternalWorkflowHandle | undefined;
  /** Returns whether the run must start nothing more. */
  readonly isEnding: () => boolean;
  /** Waits until the time is over or the run is woken. Milliseconds. */
  readonly pause: (ms: number, summary: string) => Promise<void>;
}

export interface OutageWait {
  /** Makes the probes frequent again, because something got through. */
  reset(): void;
  /** Waits at least this long and until the service responds. Calls during an outage share one wait. Milliseconds. */
  untilOver(why: string, atLeastMs: number): Promise<void>;
}

export function createOutageWait({ migration, isEnding, pause }: OutageContext): OutageWait {
  let nextDelayMs = backoff(PROBE_DELAY);
  let current: Promise<void> | null = null;

  async function probeUntilOver(first: ServiceUnavailable): Promise<void> {
    const since = new Date().toISOString();
    for (
      let trouble: ServiceUnavailable | null = first;
      trouble !== null && !isEnding();
      trouble = await shortActivities.askService()
    ) {
      const ms = nextDelayMs(trouble.afterMs, false);
      const outage: Outage = { why: trouble.why, since, until: new Date(Date.now() + ms).toISOString() };
      await migration?.signal(outageSignal, outage);
      // A decision wakes the run, which then probes at once.
      await pause(ms, outageSummary(outage));
    }
    await migration?.signal(outageSignal, null);
  }

  return {
    reset: () => {
      nextDelayMs = backoff(PROBE_DELAY);
    },
    untilOver: (why, afterMs) =>
      (current ??= probeUntilOver({ why, afterMs }).finally(() => {
        current = null;
      })),
  };
}
