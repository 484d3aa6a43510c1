/** What the doctor says of one thing that the command needs. */
export interface Examined {
  readonly about: string;
  /** `not-checked`: it is not configured, or cannot be looked at before something else is mended. */
  readonly verdict: 'ok' | 'problem' | 'not-checked';
  /** What was found; never a secret. */
  readonly what: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Longer nobody waits for one answer. */
export const PATIENCE_MS = 5_000;

export const ok = (about: string, what: string): Examined => ({ about, verdict: 'ok', what });

export const problem = (about: string, what: string, advice?: string): Examined => ({
  ...{ about, verdict: 'problem', what },
  ...(advice === undefined ? {} : { advice }),
});

export const notChecked = (about: string, what: string, advice?: string): Examined => ({
  ...{ about, verdict: 'not-checked', what },
  ...(advice === undefined ? {} : { advice }),
});

/** Looks at one thing; whatever goes wrong with that is what was found. */
export async function examine(
  about: string,
  advice: string,
  look: () => Promise<Examined | readonly Examined[]>,
): Promise<readonly Examined[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    return [problem(about, reasonOf(error), advice)];
  }
}

/** In one line: gRPC says it in the details of a cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it gave no reason';
  const { cause } = error;
  const details = cause instanceof Error && 'details' in cause ? String(cause.details) : '';
  return (details || error.message || error.name).replace(/\s+/g, ' ');
}

/** A clock beside ours. */
export interface ClockReading {
  readonly whose: string;
  /** By so much it is ahead of ours. Milliseconds. */
  readonly aheadMs: number;
}
