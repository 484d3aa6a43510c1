/** Makes a starting process wait until all servers that it needs are answering. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

export interface WaitOptions {
  /** Returns why waiting can help. If it returns null, the error is thrown. */
  readonly reasonToWait: (error: unknown) => string | null;
  readonly stopped: AbortSignal;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called with the reason before each wait. */
  readonly onWait?: (why: string) => void;
}

/** The pause before the second attempt, in milliseconds. It doubles up to the longest pause. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** How often a waiting process logs that it is waiting. */
const LOG_EVERY_MS = 30_000;

/**
 * Repeats a start until it succeeds. Logs why the process is waiting: at once, when the reason changes, and every 30
 * seconds.
 *
 * @returns null if the process was stopped while it waited
 * @throws the error of the start, if waiting cannot help
 */
export async function startWhenPossible<T>(start: () => Promise<T>, options: WaitOptions): Promise<T | null> {
  const { reasonToWait, stopped, log, onWait } = options;
  const since = performance.now();
  let logged: { why: string; at: number } | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; !stopped.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const started = await start();
      if (logged) log.info({ waitedMs: Math.round(performance.now() - since) }, 'the wait is over');
      return started;
    } catch (error) {
      const why = reasonToWait(error);
      if (why === null) throw error;
      const now = performance.now();
      onWait?.(why);
      if (logged?.why !== why || now - logged.at >= LOG_EVERY_MS) {
        log.warn({ why, waitedMs: Math.round(now - since) }, 'waiting, and trying again');
        logged = { why, at: now };
      }
      await delay(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
    }
  }
  return null;
}
