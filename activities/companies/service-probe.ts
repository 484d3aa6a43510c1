/**
 * Service probe of a slice: asks whether the service is down after a company was deferred because of it. At a few
 * companies per minute, the circuit breaker alone would detect an outage only after a minute or two.
 *
 * The probe runs while companies are being handled, because it can take as long as a call that is tried again. At most
 * one probe runs at a time, and the next one begins at least `PROBE_EVERY_MS` after the last one has ended.
 */
import type { CircuitBreaker } from './circuit-breaker';

const PROBE_EVERY_MS = 5_000;

interface ServiceProbe {
  /** Starts a probe if the last company was deferred because of the service, and no probe is running or recent. */
  start(): void;
  /** Resolves when a probe has opened the breaker. */
  readonly opened: Promise<void>;
  /** Aborts the running probe, whose answer then does not count. No other probe starts. */
  cancel(): void;
  /** Waits for the running probe. Throws the first error of a probe or of `onOpened`. */
  end(): Promise<void>;
}

interface ServiceProbeOptions {
  readonly breaker: CircuitBreaker;
  /** Probes the service; the signal aborts the probe. Returns null if the slice cannot probe the service. */
  readonly isServiceDown: (signal: AbortSignal) => Promise<boolean | null>;
  /** Called when a probe has opened the breaker. */
  readonly onOpened: () => Promise<void>;
  /** Aborts probes. */
  readonly signal: AbortSignal;
}

export function createServiceProbe({
  breaker,
  isServiceDown,
  onOpened,
  ...options
}: ServiceProbeOptions): ServiceProbe {
  const cancelled = new AbortController();
  const signal = AbortSignal.any([options.signal, cancelled.signal]);
  let running: Promise<void> | null = null;
  let failure: { readonly reason: unknown } | undefined;
  let nextAt = 0;
  let resolveOpened = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    resolveOpened = resolve;
  });

  async function probe(): Promise<void> {
    const beganAt = Date.now();
    const isDown = await isServiceDown(signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (isDown === null || signal.aborted) return;
    if (!isDown) return breaker.refute({ beganAt });
    if (!breaker.confirm({ beganAt })) return;
    resolveOpened();
    await onOpened();
  }

  return {
    opened,
    start: () => {
      if (running !== null || signal.aborted || Date.now() < nextAt || !breaker.suspectsService()) return;
      running = probe()
        .catch((reason: unknown) => void (failure ??= { reason }))
        .finally(() => {
          running = null;
          nextAt = Date.now() + PROBE_EVERY_MS;
        });
    },
    cancel: () => cancelled.abort(),
    end: async () => {
      await running;
      if (failure) throw failure.reason;
    },
  };
}
