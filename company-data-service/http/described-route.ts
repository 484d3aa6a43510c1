import type { SwaggerTransform } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { describedSchemas } from './described-schemas';
import { NothingSchema, errorAnswer } from './schemas/common';

const IdempotencySchema = z.object({
  'Idempotency-Key': z.uuid().optional().describe('The same key and body within 90 minutes get the same answer.'),
});

/** Describes a route by its own schemas, and adds what every route of its kind can answer. */
export const describedRoute: SwaggerTransform<FastifySchema> = (document) => {
  const { schema, url, route } = document;
  if (!schema || schema.hide || route.method === 'HEAD') return { schema: { hide: true }, url };
  const needsKey = schema.security === undefined;
  const repeatable = needsKey && (route.method === 'POST' || route.method === 'PATCH');
  const response = { ...errorsOf({ needsKey, repeatable, url }), ...successesOf(schema) };
  return describedSchemas({
    ...document,
    schema: { ...schema, response, ...(repeatable && { headers: IdempotencySchema }) },
  });
};

interface Kind {
  readonly needsKey: boolean;
  /** Takes an idempotency key. */
  readonly repeatable: boolean;
  readonly url: string;
}

function errorsOf({ needsKey, repeatable, url }: Kind): Record<string, unknown> {
  return {
    400: errorAnswer('The request is not as it should be; `validation` says where.'),
    ...(needsKey && {
      401: errorAnswer('The API key is missing or wrong.'),
      402: errorAnswer('The account has expired, or a limit of its plan is reached.'),
      403: errorAnswer(
        'The API key is outdated, of another account, or not an administrator’s; or the platform is closed.',
      ),
      429: errorAnswer('Too many requests: come back after `Retry-After` seconds.'),
    }),
    ...(url.includes(':') && { 404: errorAnswer('There is no such resource, or the platform has no such data.') }),
    ...(repeatable && { 409: errorAnswer('Not now: the first request with this key, or a sync, is under way.') }),
    500: errorAnswer('The service failed. Try again later.'),
    503: errorAnswer('The service is not available for the moment. Try again later.'),
  };
}

/** What the route itself says that it answers. */
function successesOf({ response }: FastifySchema): Record<string, unknown> {
  const answers = Object.entries(response ?? {}).map(([status, answer]: [string, unknown]) => {
    const hasBody = answer instanceof z.ZodType && answer !== NothingSchema;
    return [status, hasBody ? { description: 'Success', content: { 'application/json': { schema: answer } } } : answer];
  });
  return Object.fromEntries(answers) as Record<string, unknown>;
}
