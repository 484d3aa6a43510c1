/** Serves the page at `/` (with an identity provider, also at `/sign-in`), and its files under `/assets`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '../api';
import type { PortalContext } from '../context';
import { notFound } from '../errors';
import { RETURN_PATH } from '../identity-provider';
import type { PageFile } from '../page-files';

const ONE_YEAR = 'public, max-age=31536000, immutable';

export function pageRoutes(app: Api, { page, identityProvider }: PortalContext): void {
  const config = { access: 'everyone' } as const;
  const method = ['GET', 'HEAD'];
  for (const url of identityProvider ? ['/', RETURN_PATH] : ['/'])
    app.route({
      ...{ method, url, config },
      schema: { hide: true },
      handler: async (request, reply) => sendFile(page.get('index.html'), request, reply),
    });
  app.route({
    method,
    url: '/assets/*',
    config,
    schema: { hide: true, params: z.object({ '*': z.string() }) },
    handler: async (request, reply) => sendFile(page.get(`assets/${request.params['*']}`), request, reply),
  });
}

function sendFile(file: PageFile | undefined, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (file === undefined) throw notFound();
  const [encoding, content] = encodingFor(file, request.headers['accept-encoding'] ?? '');
  const tag = `"${file.hash}${encoding === undefined ? '' : `-${encoding}`}"`;
  reply.headers({
    'cache-control': file.isImmutable ? ONE_YEAR : 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  if (known.includes(tag) || known.includes('*')) return reply.code(304).send();
  return reply.type(file.type).send(content);
}

function encodingFor(file: PageFile, accepted: string): readonly ['br' | 'gzip' | undefined, Buffer] {
  const accepts = (encoding: string): boolean =>
    accepted.split(',').some((each) => {
      const [name, quality] = each
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/, 2);
      return name === encoding && !/^q=0(?:\.0*)?$/.test(quality ?? '');
    });
  if (file.br && accepts('br')) return ['br', file.br];
  if (file.gzip && accepts('gzip')) return ['gzip', file.gzip];
  return [undefined, file.plain];
}
