/** The OpenAPI description, generated from the schemas of the routes. */
import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { z } from 'zod';
import type { Api, ServiceContext } from '../context';
import { describedComponents, describedRoute } from './described-route';

const DESCRIPTION = `Companies, their connections to platforms, and the data sets synced through them.

Requests carry an API key as HTTP Basic credentials: \`Authorization: Basic <base64 of the key>\`, without a user name
and without a colon. Lists are paged; their \`_links\` contain the paths of the next and the previous page.`;

const TAGS = [
  { name: 'Companies', description: 'The companies of an account.' },
  { name: 'Connections', description: 'The connections of companies to platforms, and their authorization.' },
  { name: 'Syncs', description: 'Fetching data sets from platforms.' },
  { name: 'Data', description: 'Reading synced data.' },
  { name: 'Pushes', description: 'Creating records at platforms.' },
  { name: 'Integrations', description: 'The platforms, and the client’s own applications at these platforms.' },
  { name: 'Service', description: 'The account and the service itself.' },
  { name: 'Sandbox', description: 'Simulated platforms and end customers, and faults for tests.' },
];

/** Allows only the service's own files, inline styles and `data:` images, because the documentation page uses these. */
const CONTENT_SECURITY_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

/** Describes the routes that are added after this call. */
export async function describeRoutes(app: Api, basePath: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Company Data Service', version: '1', description: DESCRIPTION },
      servers: [{ url: basePath || '/' }],
      tags: TAGS,
      // The scheme is not `http` with `basic`, because tools would add a colon between user name and password.
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
    transformObject: removeInputSchemas,
  });
}

/** Removes the input variants of the response schemas, because no request uses them. */
const removeInputSchemas: SwaggerTransformObject = (document) => {
  const described = describedComponents(document);
  if (!('components' in described) || !described.components?.schemas) return described;
  const { schemas } = described.components;
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return described;
};

/**
 * Serves the description as JSON and as a page that loads nothing from the internet.
 *
 * @param publicPath the path of the service's public URL
 */
export async function documentationRoutes(app: Api, { publicUrl }: ServiceContext, publicPath: string): Promise<void> {
  const description = () => ({ ...app.swagger(), servers: [{ url: publicUrl() }] });

  app.get(
    '/openapi.json',
    {
      schema: {
        summary: 'Read this OpenAPI document',
        tags: ['Service'],
        security: [],
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async () => description(),
  );

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: publicPath,
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
    theme: { title: 'Company Data Service' },
    staticCSP: CONTENT_SECURITY_POLICY,
    transformSpecification: description,
    transformSpecificationClone: false,
  });
}
