/**
 * Service probe of a slice: asks whether the service is down after a company was deferred because of it. At a few
 * companies per minute, and with retries that take their turns, the circuit breaker alone would learn of an outage only
 * after a minute or two.
 *
 * The probe runs while companies are being handled, because it can take as long as a call that is tried again. At most
 * one probe runs at a time, and the next one begins at least `PROBE_EVERY_MS` after the last one has ended.
 */
import type { CircuitBreaker } from './circuit-breaker';

const PROBE_EVERY_MS = 5_000;

interface ServiceProbe {
  /** Starts a probe if a company was last deferred because of the service, and no probe is running or recent. */
  start(): void;
  /** Resolves when a probe has opened the breaker. */
  readonly opened: Promise<void>;
  /** Waits for the running probe. Throws its error, or that of `onOpened`. */
  end(): Promise<void>;
}

/**
 * @param isServiceDown probes the service
 * @param onOpened called when a probe has opened the breaker
 */
export function createServiceProbe(
  breaker: CircuitBreaker,
  isServiceDown: () => Promise<boolean>,
  onOpened: () => Promise<void>,
): ServiceProbe {
  let running: Promise<void> | null = null;
  let failure: { readonly reason: unknown } | undefined;
  let nextAt = 0;
  let resolveOpened = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    resolveOpened = resolve;
  });

  async function probe(): Promise<void> {
    const beganAt = Date.now();
    if (!(await isServiceDown()) || !breaker.confirm({ beganAt })) return;
    resolveOpened();
    await onOpened();
  }

  return {
    opened,
    start: () => {
      if (running !== null || Date.now() < nextAt || !breaker.suspectsService()) return;
      running = probe()
        .catch((reason: unknown) => void (failure ??= { reason }))
        .finally(() => {
          running = null;
          nextAt = Date.now() + PROBE_EVERY_MS;
        });
    },
    end: async () => {
      await running;
      if (failure) throw failure.reason;
    },
  };
}
