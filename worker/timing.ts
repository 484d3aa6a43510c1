import { SWEEP_EVERY_MS } from '../workflows/messages';

/** Timing of a worker. All values are in milliseconds. */
export interface WorkerTiming {
  /**
   * Time limit for handing a credential to the service, which calls the platform before it responds. If the limit is
   * exceeded, it is unknown whether the token was used. Default 60,000.
   */
  readonly authorizationTimeoutMs: number;
  /**
   * A credential is sent at most this long after its company was claimed. After that, the attempt ends without sending
   * the credential, because a later request could still be in flight when another worker reclaims the company. Default
   * 60,000.
   */
  readonly sendWithinMs: number;
  /** The part of the lease that allows for slow machines and differences between clocks. Default 15,000. */
  readonly marginMs: number;
  /**
   * Time limit for the retries of one call to the service. People see these retries only in logs and metrics, so longer
   * outages are left to the workflows and to Temporal's retries. Default 10,000.
   */
  readonly retryBudgetMs: number;
  /**
   * A slice ends after this time, even if companies are left, so that a worker that was started in the meantime can
   * take the next slice. Each slice adds a few events to the history, so a shorter time means a longer history. Default
   * 60,000.
   */
  readonly sliceTimeLimitMs: number;
  /** Interval of the sweep, which closes terminated migrations. At least 1,000. Default 3,600,000. */
  readonly sweepEveryMs: number;
}

export const TIMING: WorkerTiming = {
  authorizationTimeoutMs: 60_000,
  sendWithinMs: 60_000,
  marginMs: 15_000,
  retryBudgetMs: 10_000,
  sliceTimeLimitMs: 60_000,
  sweepEveryMs: SWEEP_EVERY_MS,
};
