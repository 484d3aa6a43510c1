/**
 * The traces of this process (OpenTelemetry). They are off by default. A process turns them on if the standard
 * variables configure an endpoint, and only then loads OpenTelemetry. For this purpose, `scripts/build.mjs` compiles
 * the imports of this file so that a module is loaded at its first use.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { createSpanExport } from './open-telemetry';
import type { SpanExport, SpanExportOptions, SpanStart, TraceSpan } from './spans';

const spans = new AsyncLocalStorage<TraceSpan>();
let options: TracingOptions | null = null;
let loaded: SpanExport | null = null;

interface TracingOptions extends SpanExportOptions {
  /** True to load OpenTelemetry now. Otherwise the first span loads it, which takes about 0.2 s. Default: false. */
  readonly loadNow?: boolean;
}

/** Turns traces on, unless they are on already. */
export function startTracing(asked: TracingOptions): void {
  options ??= asked;
  if (asked.loadNow) spanExport();
}

/** Returns a function that logs why spans could not be exported. */
export function traceFailure(log: Pick<Logger, 'warn'>): (why: string) => void {
  return (why) => log.warn({ why }, 'traces could not be exported');
}

/** Exports the spans that have ended, and turns traces off. */
export async function stopTracing(): Promise<void> {
  const stopping = loaded;
  options = loaded = null;
  await stopping?.stop();
}

function spanExport(): SpanExport | null {
  if (!options || loaded) return loaded;
  return (loaded = createSpanExport(options));
}

export function isTracing(): boolean {
  return options !== null;
}

/** Starts a span that the caller must end; null if tracing is off. */
export function startSpan(start: SpanStart): TraceSpan | null {
  const parent = start.parent ?? currentTraceparent();
  return spanExport()?.start({ ...start, ...(parent !== undefined && { parent }) }) ?? null;
}

/**
 * Does the work in a span, which is the parent of all spans that the work starts. If tracing is off, does only the
 * work.
 */
export async function inSpan<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  const span = startSpan(start);
  if (!span) return work();
  try {
    const result = await spans.run(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({ 'error.type': error instanceof Error ? error.name : 'unknown' });
    throw error;
  }
}

/** Returns the `traceparent` of the current span; undefined outside a span. */
export function currentTraceparent(): string | undefined {
  return options ? spans.getStore()?.traceparent : undefined;
}
