import { z } from 'zod';
import { PLATFORMS } from '../../../platforms/platforms';
import type { Api } from '../context';
import { notFound } from '../errors/errors';
import { textAnswer } from '../schemas/common';

const SvgSchema = textAnswer('image/svg+xml');

/**
 * Adds the route of the images that `logoUrl` points to. The route requires no API key. Each image shows the platform's
 * initial.
 */
export function logoRoutes(app: Api): void {
  app.get(
    '/logos/:file',
    {
      schema: {
        summary: 'Read the logo of a platform',
        tags: ['Integrations'],
        security: [],
        params: z.object({ file: z.string() }),
        response: { 200: SvgSchema },
      },
    },
    async ({ params }, reply) => {
      const platform = PLATFORMS.find(({ key }) => `${key}.svg` === params.file);
      if (!platform) throw notFound(`Logo ${params.file}`);
      return reply.type('image/svg+xml').send(logo(platform.name.charAt(0)));
    },
  );
}

function logo(initial: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" font-family="sans-serif" font-size="32">
  <rect width="64" height="64" rx="12" fill="#345" />
  <text x="32" y="43" fill="#fff" text-anchor="middle">${initial}</text>
</svg>`;
}
