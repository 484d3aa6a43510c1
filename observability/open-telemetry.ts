/**
 * Exports spans with OpenTelemetry, as JSON over HTTP (OTLP). Reads the standard variables for the endpoint, its
 * headers and certificates, the sampler, batching, and the attributes of the resource. Detects no attributes of the
 * host or the process, because the arguments of a process can contain names.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { parseTraceparent, traceparentOf, type TraceIds } from '../domain/text/trace-context';
import type { SpanExport, SpanExportOptions, SpanStart, TraceSpan } from './spans';

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;
/** How long a process waits for the last export before it ends. */
const STOP_WITHIN_MS = 3_000;
const REPORT_EVERY_MS = 60_000;

export function createSpanExport({ name, exportWithinMs, onFailure }: SpanExportOptions): SpanExport {
  reportFailures(onFailure);
  const random = new RandomIdGenerator();
  let preset: TraceIds | undefined;
  const limit = exportWithinMs === undefined ? {} : { timeoutMillis: exportWithinMs };
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': name }))
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: {
      generateTraceId: () => preset?.traceId ?? random.generateTraceId(),
      generateSpanId: () => preset?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(limit))],
  });
  const tracer = provider.getTracer('tokenferry');
  return {
    start: (start) => {
      const { kind = 'internal', attributes = {}, startMs } = start;
      const options = { kind: KINDS[kind], attributes: { ...attributes } };
      const times = startMs !== undefined && { startTime: startMs };
      preset = start.ids;
      const span = tracer.startSpan(start.name, { ...options, ...times }, parentOf(start));
      preset = undefined;
      const { traceId, spanId, traceFlags } = span.spanContext();
      const flags = traceFlags.toString(16).padStart(2, '0');
      return {
        traceparent: traceparentOf({ traceId, spanId, flags }),
        end: (last, endMs) => {
          if (last) span.setAttributes({ ...last });
          if (last?.['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end(endMs);
        },
      } satisfies TraceSpan;
    },
    stop: async () => {
      const stopped = provider.shutdown().catch(() => undefined);
      await Promise.race([stopped, delay(STOP_WITHIN_MS, undefined, { ref: false })]);
    },
  };
}

function parentOf({ parent }: SpanStart): Context {
  const context = parseTraceparent(parent);
  if (!context) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = context;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true });
}

/** Reports only the message of a failed export, because the collector's response can quote the spans. */
function reportFailures(onFailure: SpanExportOptions['onFailure']): void {
  if (!onFailure) return;
  let reportedAt = -Infinity;
  const report = (text: string): void => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    onFailure(/"message":"([^"]*)"/.exec(text)?.[1] ?? text);
  };
  const ignore = (): void => undefined;
  diag.setLogger({ error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
}
