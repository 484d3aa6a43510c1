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

/**
 * Returns a function that is called once, with the status of the response, or with `dropped` if the connection closed
 * before the response was sent. Null if the request is not traced.
 */
export type ContinueTrace = (
  request: TracedRequest,
) => ((outcome: number | 'dropped', correlationId: string) => void) | null;

export function addTraces(app: Api, continueTrace: ContinueTrace): void {
  app.addHook('onRequest', async (request, reply) => {
    const { url: route } = request.routeOptions;
    const { traceparent } = request.headers;
    if (route === undefined || traceparent === undefined) return;
    const end = continueTrace({ method: request.method, route, traceparent });
    if (!end) return;
    let outcome: number | 'dropped' = 'dropped';
    reply.raw.once('finish', () => (outcome = reply.statusCode));
    // Also emitted if the connection closes before the response. Fastify's hook `onResponse` does not run then.
    reply.raw.once('close', () => end(outcome, request.id));
  });
}
