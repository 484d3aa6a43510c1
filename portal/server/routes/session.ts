/** Signing in with an invitation, and signing out. */
import { z } from 'zod';
import { createPortalToken, hashPortalToken } from '../../../security';
import { ErrorSchema, RedeemSchema, SessionSchema } from '../../contract';
import { assertSentByPage } from '../access';
import type { Api } from '../api';
import type { PortalContext } from '../context';
import type { SessionRow } from '../database';
import { unusableInvitation } from '../errors';
import { limiter } from '../limits';
import { expiredCookie, sessionCookie } from '../session-token';

const SignedInSchema = SessionSchema.extend({
  token: z.string().optional().describe('The bearer token, if it was requested with `"as": "token"`.'),
});

export function sessionRoutes(app: Api, { db, limits, sessionLifetimeMs }: PortalContext): void {
  const countRedemption = limiter(app, limits.redemptionsPerMinute);

  app.post(
    '/api/session',
    {
      config: { access: 'everyone' },
      // Before the body is read.
      onRequest: countRedemption,
      schema: {
        summary: 'Sign in with an invitation',
        description:
          'An invitation works once. The session is returned as a cookie for browsers, or as a bearer token for programs.',
        tags: ['Session'],
        body: RedeemSchema,
        response: { 200: SignedInSchema, 403: ErrorSchema },
      },
    },
    async (request, reply) => {
      const { invitation, publicKey = null, as } = request.body;
      if (as === 'cookie') assertSentByPage(request);
      const token = createPortalToken();
      const session = await db.redeem({
        tokenHash: hashPortalToken(invitation),
        sessionHash: hashPortalToken(token),
        publicKey,
        lifetimeMs: sessionLifetimeMs,
      });
      if (!session) throw unusableInvitation();
      request.log.info({ invitation: session.invitationId, migration: session.migrationId }, 'an invitation was used');
      if (as === 'token') return { ...publicFieldsOf(session), token };
      void reply.header('set-cookie', sessionCookie(token, sessionLifetimeMs));
      return publicFieldsOf(session);
    },
  );

  app.get(
    '/api/session',
    {
      config: { access: 'session' },
      schema: { summary: 'Read who is signed in', tags: ['Session'], response: { 200: SessionSchema } },
    },
    async ({ signedIn }) => publicFieldsOf(signedIn),
  );

  app.delete(
    '/api/session',
    {
      config: { access: 'session' },
      schema: {
        summary: 'Sign out',
        tags: ['Session'],
        response: { 204: z.undefined().describe('The session has ended.') },
      },
    },
    async ({ signedIn }, reply) => {
      await db.endSession(signedIn.hash);
      return reply.header('set-cookie', expiredCookie()).code(204).send();
    },
  );
}

function publicFieldsOf(session: SessionRow): z.infer<typeof SessionSchema> {
  const { migrationId, person, role, publicKey, isKeyConfirmed, expiresAt } = session;
  return { migrationId, person, role, publicKey, isKeyConfirmed, expiresAt };
}
