import type { SwaggerTransform } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { NothingSchema, errorAnswer } from '../schemas/common';

/**
 * Settings for the conversion of zod schemas to JSON Schema. Additional properties are not excluded, because fields can
 * be added to responses. A response without a body has the type null.
 */
const zodToJsonConfig: Parameters<typeof createJsonSchemaTransform>[0]['zodToJsonConfig'] = {
  override: ({ zodSchema, jsonSchema }) => {
    if (zodSchema instanceof z.ZodUndefined) jsonSchema.type = 'null';
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

const describedSchemas = createJsonSchemaTransform({ zodToJsonConfig });
export const describedComponents = createJsonSchemaTransformObject({ zodToJsonConfig });

const IdempotencySchema = z.object({
  'Idempotency-Key': z
    .uuid()
    .optional()
    .describe('Repeating a successful request with the same key and body within 90 minutes returns the same response.'),
});

/** Describes a route by its own schemas, and adds the errors that every route of its kind can return. */
export const describedRoute: SwaggerTransform<FastifySchema> = (document) => {
  const { schema, url, route } = document;
  if (!schema || schema.hide || route.method === 'HEAD') return { schema: { hide: true }, url };
  const needsKey = schema.security === undefined;
  const repeatable = needsKey && (route.method === 'POST' || route.method === 'PATCH');
  const response = { ...errorsOf({ needsKey, repeatable, url }), ...declaredResponsesOf(schema) };
  return describedSchemas({
    ...document,
    schema: { ...schema, response, ...(repeatable && { headers: IdempotencySchema }) },
  });
};

interface RouteKind {
  readonly needsKey: boolean;
  /** True if the route accepts an idempotency key. */
  readonly repeatable: boolean;
  readonly url: string;
}

function errorsOf({ needsKey, repeatable, url }: RouteKind): Record<string, unknown> {
  return {
    400: errorAnswer('The request is invalid. `validation` lists the problems.'),
    ...(needsKey && {
      401: errorAnswer('The API key is missing or wrong.'),
      402: errorAnswer('The account has expired, or a limit of its plan is reached.'),
      403: errorAnswer(
        'The API key is outdated, belongs to another account, or is not an administrator key. Or the platform is not accessible.',
      ),
      429: errorAnswer('Too many requests. Retry after `Retry-After` seconds.'),
    }),
    ...(url.includes(':') && {
      404: errorAnswer('The resource does not exist, or the platform does not have this data type.'),
    }),
    ...(repeatable && {
      409: errorAnswer(
        'The first request with this idempotency key is still in progress, a sync of the data set is queued or in progress, or no suitable connection is linked.',
      ),
    }),
    500: errorAnswer('The service failed. Try again later.'),
    503: errorAnswer('The service is temporarily unavailable. Try again later.'),
  };
}

/** Returns the responses that the route itself declares. */
function declaredResponsesOf({ response }: FastifySchema): Record<string, unknown> {
  const answers = Object.entries(response ?? {}).map(([status, answer]: [string, unknown]) => {
    const hasBody = answer instanceof z.ZodType && answer !== NothingSchema;
    return [status, hasBody ? { description: 'Success', content: { 'application/json': { schema: answer } } } : answer];
  });
  return Object.fromEntries(answers) as Record<string, unknown>;
}
