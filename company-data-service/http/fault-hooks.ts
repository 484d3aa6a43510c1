import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Fault, Faults } from '../faults/faults';
import type { Api } from './context';
import { ServiceError, tooManyRequests } from './errors/errors';

/**
 * Applies the configured faults to every route of `app`. `lostAnswer` takes effect when the response is sent, all other
 * faults after authentication and before the route's handler.
 */
export function applyFaults(app: Api, faults: Faults, basePath: string): void {
  const lostAnswers = new WeakSet<FastifyRequest>();
  app.addHook('onRequest', async (request, reply) => {
    for (const fault of faults.faultsFor(request.method, describedPath(request, basePath))) {
      if (fault.kind === 'lostAnswer') lostAnswers.add(request);
      else await apply(fault, request, reply);
    }
  });
  app.addHook('onSend', async (request, _reply, payload) => {
    if (lostAnswers.has(request)) request.raw.socket.destroy();
    return payload;
  });
}

async function apply(fault: Exclude<Fault, { kind: 'lostAnswer' }>, request: FastifyRequest, reply: FastifyReply) {
  switch (fault.kind) {
    case 'latency':
      return delay(fault.latencyMs);
    case 'tooManyRequests':
      throw tooManyRequests(fault.retryAfterS);
    case 'internalError':
      throw new ServiceError(500, 'The service failed. Please try again later.');
    case 'unavailable':
      throw new ServiceError(503, 'The service is under maintenance. Please try again later.');
    case 'droppedConnection':
      reply.hijack();
      request.raw.socket.destroy();
  }
}

/** Returns the path of the route as it is in the OpenAPI description. */
function describedPath(request: FastifyRequest, basePath: string): string {
  const url = request.routeOptions.url ?? '';
  return url.slice(basePath.length).replaceAll(/:(\w+)/g, '{$1}');
}
