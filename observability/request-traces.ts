/** Spans of HTTP requests: in the process that sends a request, and in the service, which continues the trace. */
import { currentTraceparent, startSpan } from './tracing';
import { parseTraceparent } from '../domain/text/trace-context';

/**
 * The fixed segments in paths of the service. All other segments, such as ids and data types, differ between requests.
 */
const FIXED_SEGMENTS: ReadonlySet<string> = new Set([
  ...['account', 'all', 'authorization', 'companies', 'connections', 'credentials', 'data', 'dataStatus', 'healthz'],
  ...['history', 'integrations', 'push', 'queue', 'syncSettings'],
]);

interface SentRequest {
  readonly traceparent: string;
  end(outcome: number | string, correlationId?: string): void;
}

/** Starts the span of a request to the service; null if the request does not belong to a trace. */
export function traceServiceRequest(method: string, path: string): SentRequest | null {
  const parent = currentTraceparent();
  if (parent === undefined) return null;
  const template = path
    .replace(/\?.*/, '')
    .split('/')
    .map((segment) => (segment === '' || FIXED_SEGMENTS.has(segment) ? segment : '{id}'))
    .join('/');
  const attributes = { 'http.request.method': method, 'url.template': template };
  const span = startSpan({ name: `${method} ${template}`, kind: 'client', parent, attributes });
  return span && { traceparent: span.traceparent, end: (...result) => span.end(resultOf(...result)) };
}

/** A request that the service has received. */
export interface ReceivedRequest {
  readonly method: string;
  /** The template of the path, for example `/companies/:companyId`. */
  readonly route: string;
  /** The value of the request's header `traceparent`. */
  readonly traceparent: unknown;
}

/**
 * Starts the span of a request that the service has received.
 *
 * @returns a function that ends the span; null if the request does not belong to a trace, or if tracing is off
 */
export function continueTrace(
  request: ReceivedRequest,
): ((outcome: number | string, correlationId: string) => void) | null {
  const { method, route, traceparent } = request;
  if (typeof traceparent !== 'string' || !parseTraceparent(traceparent)) return null;
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = startSpan({ name: `${method} ${route}`, kind: 'server', parent: traceparent, attributes });
  return span && ((...result) => span.end(resultOf(...result)));
}

function resultOf(outcome: number | string, correlationId?: string) {
  const isStatus = typeof outcome === 'number';
  return {
    ...(correlationId !== undefined && { 'tokenferry.correlation_id': correlationId }),
    ...(isStatus && { 'http.response.status_code': outcome }),
    ...((!isStatus || outcome >= 400) && { 'error.type': String(outcome) }),
  };
}
