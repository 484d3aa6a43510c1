/** The OpenAPI document of the portal, generated from the schemas that validate requests. */
import swagger, { type SwaggerTransform } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorSchema } from '../../contract/requests';
import type { Access, Api } from '../api';

const DESCRIPTION = `The API of the page on which a client follows its migration, decides, and supplies credentials.

Sign in with the token of an invitation: \`POST /api/session\`. A program asks for a bearer token (\`"as": "token"\`) and
sends it as \`Authorization: Bearer <token>\`. A browser gets a cookie. Signing in, and each later request that changes
something and has no bearer token, needs the header \`x-tokenferry-portal: 1\`. When the session has ended, sign in again
with the registered key, if support has confirmed it: \`POST /api/session/renewal\`. A person whose invitation is for an
account signs in at an identity provider, with a browser: \`POST /api/session/identity\`.

Credentials and client secrets are sealed before they are sent, and decisions are signed. The portal can neither open
sealed data nor sign decisions.`;

const SECURITY: Readonly<Record<Access, readonly Record<string, string[]>[]>> = {
  everyone: [],
  session: [{ cookie: [] }, { bearer: [] }],
  client: [{ cookie: [] }, { bearer: [] }],
};

const describedSchemas = createJsonSchemaTransform({
  zodToJsonConfig: {
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodUndefined) jsonSchema.type = 'null';
    },
  },
});

const describedRoute: SwaggerTransform<FastifySchema> = (document) => {
  const { schema, url, route } = document;
  const { access } = route.config ?? {};
  if (!schema || schema.hide || access === undefined) return { schema: { hide: true }, url };
  const response = {
    ...errorsOf(access, route.method !== 'GET'),
    ...described(schema.response as Record<string, unknown> | undefined),
  };
  const transformed = describedSchemas({
    ...document,
    schema: { ...schema, response, security: SECURITY[access] },
  });
  return { ...transformed, schema: { ...transformed.schema, 'x-role': access } as FastifySchema };
};

/** @param isChange true if requests to the route change something, so that other sites must not send them */
function errorsOf(access: Access, isChange: boolean): Record<string, unknown> {
  return {
    400: error('The request is invalid.'),
    ...(access !== 'everyone' && { 401: error('There is no session, or it has ended.') }),
    ...(isChange && { 403: error(access === 'client' ? NOT_A_CLIENT : FORBIDDEN) }),
    429: error('Too many requests. Retry after `Retry-After` seconds.'),
  };
}

const FORBIDDEN = 'The request is refused. `error` says what is refused; `advice`, if there is one, says what to do.';
const NOT_A_CLIENT =
  'The request is refused, for example because the session does not have the role client. `error` says what is refused; `advice`, if there is one, says what to do.';

/** The descriptions, by status, of answers that a route does not describe itself. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  202: 'There is no answer yet.',
  403: FORBIDDEN,
  413: 'The request is too large.',
  429: 'Too many requests. Retry after `Retry-After` seconds.',
  503: 'The portal cannot answer now. Try again after `Retry-After` seconds.',
};

/**
 * Adds descriptions to the answers that have none, because the library would describe them as "Default Response". Keeps
 * the descriptions of routes.
 */
function described(responses: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => {
      const description = DESCRIPTIONS[status];
      if (description === undefined || !(schema instanceof z.ZodType) || schema.description !== undefined)
        return [status, schema];
      return [status, { description, content: { 'application/json': { schema } } }];
    }),
  );
}

const error = (description: string) => ({ description, content: { 'application/json': { schema: ErrorSchema } } });

/** Describes the routes that are added after this call. */
export async function describeRoutes(app: Api, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tokenferry portal', version: '1', description: DESCRIPTION },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'Session', description: 'Signing in and out.' },
        { name: 'Migration', description: 'What the page shows.' },
        { name: 'Decisions', description: 'What the client decides and supplies.' },
        { name: 'Report', description: 'The handover report.' },
        { name: 'Service', description: 'The portal itself.' },
      ],
      components: {
        securitySchemes: {
          cookie: { type: 'apiKey', in: 'cookie', name: '__Host-tokenferry' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    transform: describedRoute,
  });
}
