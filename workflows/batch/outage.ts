/**
 * Outages during a batch run: no call gets through to the service or the platform.
 *
 * During an outage, the run begins no moves. It probes the service at growing intervals, and reports the outage to the
 * migration, which shows the outage to people. The run continues automatically once the service responds. While the
 * ledger is being reconciled, the run waits in the same way.
 */
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { ServiceUnavailable } from '../../activities/companies/batch';
import type { SliceOutage } from '../../activities/companies/circuit-breaker';
import { outageSummary, type Outage } from '../../domain/migration/outage';
import { shortActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import { outageSignal } from '../messages';

/** The delay between two probes, unless the service asks us to wait longer. */
const PROBE_DELAY = { shortestMs: 2_000, longestMs: 5 * 60_000 };

/** The parts of a run context that the outage wait uses. */
export interface OutageContext {
  /** The migration that started the run; undefined if the run has no parent. */
  readonly migration: ExternalWorkflowHandle | undefined;
  /** Shows the outage on the page of the run; null once it is over. */
  readonly showOutage: (outage: Outage | null) => void;
  /** Returns whether the run must not start any more work. */
  readonly isEnding: () => boolean;
  /** Waits for `ms` milliseconds, or until the run is woken. Returns whether it was woken. */
  readonly sleep: (ms: number, summary: string) => Promise<boolean>;
}

export interface OutageWait {
  /** Resets the backoff of the probes. Called when the result of a slice shows that calls get through. */
  reset(): void;
  /**
   * Waits until the service responds or the run is ending, and at least `atLeastMs` milliseconds unless the run is
   * woken. Calls during the same outage share one wait.
   */
  untilOver(trouble: Pick<SliceOutage, 'why' | 'source' | 'since'>, atLeastMs: number): Promise<void>;
  /** Returns whether a call of `untilOver` is waiting. */
  isWaiting(): boolean;
}

export function createOutageWait({ migration, showOutage, isEnding, sleep }: OutageContext): OutageWait {
  let nextDelayMs = backoff(PROBE_DELAY);
  let current: Promise<void> | null = null;

  async function probeUntilOver(first: ServiceUnavailable, sinceMs: number): Promise<void> {
    const since = new Date(sinceMs).toISOString();
    for (
      let trouble: ServiceUnavailable | null = first;
      trouble !== null && !isEnding();
      trouble = await shortActivities.probeService()
    ) {
      const ms = nextDelayMs(trouble.afterMs, false);
      const { why, source } = trouble;
      const outage: Outage = { why, since, until: new Date(Date.now() + ms).toISOString(), ...(source && { source }) };
      showOutage(outage);
      await migration?.signal(outageSignal, outage);
      // A decision wakes the run, so that the next probe follows at once.
      await sleep(ms, outageSummary(outage));
    }
    showOutage(null);
    await migration?.signal(outageSignal, null);
  }

  return {
    reset: () => {
      nextDelayMs = backoff(PROBE_DELAY);
    },
    untilOver: ({ why, source, since = Date.now() }, afterMs) =>
      (current ??= probeUntilOver({ why, ...(source && { source }), afterMs }, since).finally(() => {
        current = null;
      })),
    isWaiting: () => current !== null,
  };
}
