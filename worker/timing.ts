/** How long a worker waits for what. Milliseconds. */
export interface WorkerTiming {
  /** The service may ask its platform for so long while it takes an authorization. */
  readonly authorizationTimeoutMs: number;
  /** A token must not leave after somebody else may have taken its company over. */
  readonly sendWithinMs: number;
  /** Beyond every call of an attempt: clocks and slow machines. */
  readonly marginMs: number;
  /** A longer outage is for Temporal to wait out: then people see what is held up, and by what. */
  readonly retryBudgetMs: number;
  /** A worker that joins gets its part of a run after so long at the latest; each slice costs a few events. */
  readonly sliceTimeLimitMs: number;
  /** So often a namespace is looked through for terminated migrations. */
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
