/**
 * The token endpoint of the sandbox platforms (RFC 6749, section 6), for the client's own application. When a refresh
 * here invalidates a refresh token, the token stops working for the service too, and vice versa.
 */
import { z } from 'zod';
import { PlatformInaccessible, PlatformRefusal, type RefusalReason } from '../../platform/platform';
import type { Api, ServiceContext } from '../context';
import { downstreamInaccessible } from '../errors/errors';
import { platformAt } from '../resources';
import { TOO_MANY_FROM_ADDRESS, ErrorSchema, errorAnswer } from '../schemas/common';

const BodySchema = z.object({ grant_type: z.literal('refresh_token'), refresh_token: z.string().min(1) });

const PairSchema = z.object({ access_token: z.string(), refresh_token: z.string(), token_type: z.literal('bearer') });
const RefusalSchema = z.object({ error: z.string(), error_description: z.string() });

const OAUTH_ERRORS: Record<RefusalReason, string> = {
  GrantRefused: 'invalid_grant',
  WrongOrganization: 'invalid_grant',
  ApplicationRefused: 'invalid_client',
  PlatformUnavailable: 'temporarily_unavailable',
  PlatformRateLimited: 'temporarily_unavailable',
};

export function sandboxTokenRoutes(app: Api, { platforms }: ServiceContext): void {
  app.post(
    '/sandbox/:platformKey/token',
    {
      schema: {
        summary: 'Refresh a token at a sandbox platform, as the client’s own application does',
        tags: ['Sandbox'],
        security: [],
        params: z.object({ platformKey: z.string() }),
        body: BodySchema,
        response: {
          200: PairSchema,
          400: z.union([RefusalSchema, ErrorSchema]),
          403: errorAnswer('The platform is not accessible.'),
          429: TOO_MANY_FROM_ADDRESS,
        },
      },
    },
    async ({ params, body }, reply) => {
      const platform = platformAt(params.platformKey, 'Platform');
      try {
        const pair = await platforms.refresh({ platform, credential: { refreshToken: body.refresh_token } });
        return { access_token: pair.accessToken, refresh_token: pair.refreshToken, token_type: 'bearer' as const };
      } catch (refusal) {
        if (refusal instanceof PlatformInaccessible) throw downstreamInaccessible(platform.name, refusal.message);
        if (!(refusal instanceof PlatformRefusal)) throw refusal;
        return reply.code(400).send({ error: OAUTH_ERRORS[refusal.reason], error_description: refusal.message });
      }
    },
  );
}
