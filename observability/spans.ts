/** The spans of traces, independent of the library that exports them. */
import type { TraceIds } from '../domain/text/trace-context';

/**
 * The attributes that a span can have. None can carry a credential or the name of a company: texts are ids, names of
 * steps, HTTP methods, templates of paths, and kinds of failures.
 */
export interface SpanAttributes {
  readonly 'tokenferry.migration'?: string;
  readonly 'tokenferry.step'?: string;
  readonly 'tokenferry.run'?: string;
  readonly 'tokenferry.correlation_id'?: string;
  readonly 'tokenferry.attempt'?: number;
  readonly 'http.request.method'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'http.route'?: string;
  readonly 'url.template'?: string;
  /** The kind of failure, never its message, which can quote a name. */
  readonly 'error.type'?: string;
}

export interface SpanStart {
  readonly name: string;
  readonly kind?: 'internal' | 'client' | 'server';
  readonly attributes?: SpanAttributes;
  /** `traceparent` of the parent span. Default: the current span. A span without a parent begins a trace. */
  readonly parent?: string;
  /** Start of the span, in milliseconds since the epoch. Default: now. */
  readonly startMs?: number;
  /** Ids of the span. Default: random ids. The trace id is used only if the span begins a trace. */
  readonly ids?: TraceIds;
}

export interface TraceSpan {
  readonly traceparent: string;
  /**
   * Ends the span.
   *
   * @param endMs end of the span, in milliseconds since the epoch; default: now
   */
  end(attributes?: SpanAttributes, endMs?: number): void;
}

/** Creates and exports spans. `open-telemetry.ts` implements this interface. */
export interface SpanExport {
  start(span: SpanStart): TraceSpan;
  /** Exports the spans that have ended, and stops. Takes a few seconds at most. */
  stop(): Promise<void>;
}

export interface SpanExportOptions {
  /** The name of this process in traces, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` sets it. */
  readonly name: string;
  /**
   * Time limit of an export with its retries, in milliseconds. Default: `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT` or
   * `OTEL_EXPORTER_OTLP_TIMEOUT`, or 10,000 if neither variable is set.
   */
  readonly exportWithinMs?: number;
  /** Called when spans cannot be exported, at most once a minute. Optional. */
  readonly onFailure?: (why: string) => void;
}
