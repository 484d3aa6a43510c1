/** The service's description of itself, made from the schemas that check its requests. */
import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { z } from 'zod';
import type { Api, ServiceContext } from './context';
import { describedRoute } from './described-route';
import { describedComponents } from './described-schemas';

const DESCRIPTION = `Companies, their connections to platforms, and the data sets synced through them.

Requests carry an API key as HTTP Basic credentials: \`Authorization: Basic <base64 of the key>\`, the key alone, without
user name and colon. Lists are paged, and their \`_links\` lead from page to page.`;

const TAGS = [
  { name: 'Companies', description: 'The companies of an account.' },
  { name: 'Connections', description: 'Their connections to platforms, and how these are authorized.' },
  { name: 'Syncs', description: 'Fetching data sets from platforms.' },
  { name: 'Data', description: 'Reading what was synced.' },
  { name: 'Pushes', description: 'Creating records at platforms.' },
  { name: 'Integrations', description: 'The platforms, and the client’s own applications at them.' },
  { name: 'Service', description: 'The account, and the service itself.' },
  { name: 'Sandbox', description: 'What stands in for platforms and companies.' },
];

/** Nothing but what the service sends itself; the page sets styles on its elements, and draws with `data:` pictures. */
const CONTENT_SECURITY_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

/** Watches the routes that are added from now on, to describe them. */
export async function describeRoutes(app: Api, basePath: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Company Data Service', version: '1', description: DESCRIPTION },
      servers: [{ url: basePath || '/' }],
      tags: TAGS,
      // Not `http` with `basic`: tools would add the colon that separates a user name from a password.
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: '`Basic`, a space, and the base64 of the key.',
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    transform: describedRoute,
    transformObject: onlyAnswers,
  });
}

/** Requests have no named schemas: the forms that answers would have as requests are nobody's. */
const onlyAnswers: SwaggerTransformObject = (document) => {
  const whole = describedComponents(document);
  if (!('components' in whole) || !whole.components?.schemas) return whole;
  const { schemas } = whole.components;
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return whole;
};

/**
 * Serves the description to programs, and a page of it to people, without anything from the internet.
 *
 * @param publicPath the base path, as it is seen from outside
 */
export async function documentationRoutes(app: Api, { publicUrl }: ServiceContext, publicPath: string): Promise<void> {
  const here = () => ({ ...app.swagger(), servers: [{ url: publicUrl() }] });

  app.get(
    '/openapi.json',
    {
      schema: {
        summary: 'This description',
        tags: ['Service'],
        security: [],
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async () => here(),
  );

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: publicPath,
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
    theme: { title: 'Company Data Service' },
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: here,
    transformSpecificationClone: false,
  });
}
