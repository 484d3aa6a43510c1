/** Signs people in with an invitation or a registered key, and signs them out. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createPortalToken, hashPortalToken } from '../../../security';
import { signInProblem } from '../../../domain/migration/sign-in';
import { ErrorSchema } from '../../contract/requests';
import { RedeemSchema, SessionSchema, SignInAgainSchema } from '../../contract/session';
import { assertNamesOrigin } from '../access';
import type { Api } from '../api';
import type { PortalContext } from '../context';
import type { SessionRow } from '../database';
import { forbidden, unusableInvitation } from '../errors';
import { limiter } from '../limits';
import { expiredSessionCookie, sessionCookie } from '../session-token';
import { signInAndWait, unusableKey } from '../sign-ins';

const SignedInSchema = SessionSchema.extend({
  token: z.string().optional().describe('The bearer token, if it was requested with `"as": "token"`.'),
});

export function sessionRoutes(app: Api, context: PortalContext): void {
  const { db, limits, sessionLifetimeMs } = context;
  const countRedemption = limiter(app, limits.redemptionsPerMinute);

  app.post(
    '/api/session',
    {
      config: { access: 'everyone' },
      // Counts the request before its body is read.
      onRequest: countRedemption,
      schema: {
        summary: 'Sign in with an invitation',
        description:
          'An invitation works once. The session is returned as a cookie for browsers, or as a bearer token for programs.',
        tags: ['Session'],
        body: RedeemSchema,
        response: { 200: SignedInSchema.describe('The new session.'), 403: ErrorSchema },
      },
    },
    async (request, reply) => {
      const { invitation, publicKey = null, as } = request.body;
      if (as === 'cookie') assertNamesOrigin(request);
      const token = createPortalToken();
      const session = await db.redeem({
        tokenHash: hashPortalToken(invitation),
        sessionHash: hashPortalToken(token),
        publicKey,
        lifetimeMs: sessionLifetimeMs,
      });
      if (!session) throw unusableInvitation();
      logSignIn(request, session, 'a person has signed in with an invitation');
      return answerOf(session, token, as, reply);
    },
  );

  app.post(
    '/api/session/renewal',
    {
      config: { access: 'everyone' },
      // Counts the request before its body is read.
      onRequest: limiter(app, limits.redemptionsPerMinute),
      schema: {
        summary: 'Sign in again with a registered key',
        description:
          'For a person whose session has ended. The request is signed with the key that the person registered with the ' +
          'invitation. The portal refuses the request until support has confirmed the fingerprint of this key. The caller ' +
          'creates the token of the new session: 32 random bytes in base64url. The caller then signs a text with Ed25519: ' +
          '`tokenferry sign-in 1`, a line feed, and a JSON object. The object has the fields `migrationId`, `publicKey`, ' +
          '`sessionHash` and `signedAt`, in this order and without spaces. `sessionHash` is the SHA-256 of the text of ' +
          'the token, in hexadecimal digits. A worker creates the session. 503: no worker has answered within 15 ' +
          'seconds. Send the same request again for up to two minutes, then sign a new request with a new token.',
        tags: ['Session'],
        body: SignInAgainSchema,
        response: { 200: SignedInSchema.describe('The new session.'), 403: ErrorSchema, 503: ErrorSchema },
      },
    },
    async (request, reply) => {
      const { migrationId, publicKey, token, signedAt, signature, as } = request.body;
      if (as === 'cookie') assertNamesOrigin(request);
      const sessionHash = hashPortalToken(token);
      const signIn = { migrationId, publicKey, sessionHash: sessionHash.toString('hex'), signedAt };
      // The portal checks the signature so that only owners of a key can store requests. A worker checks it again.
      const problem = signInProblem(signIn, signature, new Date());
      if (problem === 'time') throw wrongClock();
      if (problem !== null) throw unusableKey();
      const session = await signInAndWait(
        context,
        { sessionHash, migrationId, publicKey, proof: { signedAt, signature }, lifetimeMs: sessionLifetimeMs },
        () => reply.raw.destroyed,
      );
      logSignIn(request, session, 'a person has signed in again with a key');
      return answerOf(session, token, as, reply);
    },
  );

  app.get(
    '/api/session',
    {
      config: { access: 'session' },
      schema: {
        summary: 'Read who is signed in',
        tags: ['Session'],
        response: { 200: SessionSchema.describe('The session of the request.') },
      },
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
      return reply.header('set-cookie', expiredSessionCookie()).code(204).send();
    },
  );

  /** Returns the new session with its token, which is in the answer or in a cookie. */
  function answerOf(session: SessionRow, token: string, as: 'cookie' | 'token', reply: FastifyReply) {
    if (as === 'token') return { ...publicFieldsOf(session), token };
    void reply.header('set-cookie', sessionCookie(token, sessionLifetimeMs));
    return publicFieldsOf(session);
  }
}

export function logSignIn({ log }: FastifyRequest, { invitationId, migrationId }: SessionRow, text: string): void {
  log.info({ invitation: invitationId, migration: migrationId }, text);
}

const wrongClock = () =>
  forbidden(
    'The request was not signed within the last few minutes, or the clock of your device is wrong.',
    'Try again. If this message appears again, set the clock of your device.',
  );

export function publicFieldsOf(session: SessionRow): z.infer<typeof SessionSchema> {
  const { migrationId, person, role, publicKey, isKeyConfirmed, expiresAt } = session;
  return { migrationId, person, role, publicKey, isKeyConfirmed, expiresAt };
}
