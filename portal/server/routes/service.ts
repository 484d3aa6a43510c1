/** The health of the portal, and the documentation of its API. */
import { z } from 'zod';
import { ErrorSchema } from '../../contract/requests';
import type { Api } from '../api';
import type { PortalContext } from '../context';
import { documentationPage, DOCUMENTATION_POLICY } from '../openapi/documentation-page';
import { PortalError } from '../errors';

export function serviceRoutes(app: Api, { problem }: PortalContext): void {
  const config = { access: 'everyone' } as const;

  app.get(
    '/health',
    {
      config,
      logLevel: 'warn',
      schema: {
        summary: 'Check that the portal works',
        tags: ['Service'],
        response: {
          200: z.object({ status: z.literal('ok') }).describe('The portal works.'),
          503: ErrorSchema.describe('The portal is not working at the moment.'),
        },
      },
    },
    async () => {
      if (problem() !== null) throw new PortalError(503, 'The portal is not working at the moment.');
      return { status: 'ok' as const };
    },
  );

  app.get(
    '/api/openapi.json',
    {
      config,
      schema: {
        summary: 'Read this OpenAPI document',
        tags: ['Service'],
        response: { 200: z.record(z.string(), z.unknown()).describe('The OpenAPI 3.1 document.') },
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send({ ...app.swagger() }),
  );

  let page: string | undefined;
  app.get(
    '/api/docs',
    {
      config,
      schema: {
        summary: 'Read this documentation',
        tags: ['Service'],
        response: { 200: { description: 'The page.', content: { 'text/html': { schema: z.string() } } } },
      },
    },
    async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', DOCUMENTATION_POLICY)
        .send((page ??= documentationPage(app.swagger()))),
  );
}
