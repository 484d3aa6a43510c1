/** Timing of a worker. All values are in milliseconds. */
export interface WorkerTiming {
  /**
   * Time limit of handing a credential to the service, which then calls its platform. After it is exceeded nobody knows
   * whether the token was used. Default 60,000.
   */
  readonly authorizationTimeoutMs: number;
  /**
   * A credential is sent at most this long after its company was claimed, so that it cannot leave when another worker
   * might already have reclaimed the company. After that the attempt ends without sending it. Default 60,000.
   */
  readonly sendWithinMs: number;
  /** Part of the lease that covers differences between clocks and slow machines. Default 15,000. */
  readonly marginMs: number;
  /**
   * Time for the retries of one call to the service. A longer outage is left to Temporal's retries, because only those
   * are visible to people. Default 10,000.
   */
  readonly retryBudgetMs: number;
  /**
   * A slice ends after this time and the rest is handed back, so that a worker that has joined gets a share of the run.
   * Each slice costs a few history events: shorter times mean longer histories. Default 60,000.
   */
  readonly sliceTimeLimitMs: number;
  /** Interval of the sweep that closes migrations terminated in Temporal. At least 1,000. Default 3,600,000. */
  readonly sweepEveryMs: number;
}

export const TIMING: WorkerTiming = {
  authorizationTimeoutMs: 60_000,
  sendWithinMs: 60_000,
  marginMs: 15_000,
  retryBudgetMs: 10_000,
  sliceTimeLimitMs: 60_000,
  sweepEveryMs: 3_600_000,
};
