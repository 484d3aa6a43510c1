/**
 * Continues the traces of the programs that call the service. The program that starts the service supplies the tracing.
 */
import type { Api } from './context';

export interface TracedRequest {
  readonly method: string;
  /** The template of the path, because a path can contain the secret of a link page. */
  readonly route: string;
  /** The header of this name (W3C Trace Context). */
  readonly traceparent: unknown;
}

/** Returns a function that is called when the request has been answered; null if the request is not traced. */
export type ContinueTrace = (request: TracedRequest) => ((status: number, correlationId: string) => void) | null;

export function addTraces(app: Api, continueTrace: ContinueTrace): void {
  const running = new WeakMap<object, (status: number, correlationId: string) => void>();
  app.addHook('onRequest', async (request) => {
    const { url: route } = request.routeOptions;
    const { traceparent } = request.headers;
    if (route === undefined || traceparent === undefined) return;
    const end = continueTrace({ method: request.method, route, traceparent });
    if (end) running.set(request, end);
  });
  // Also called if the caller disconnects while the answer is being sent.
  app.addHook('onResponse', async (request, reply) => {
    running.get(request)?.(reply.statusCode, request.id);
  });
}
