/** Signs people in at an identity provider (OpenID Connect), instead of with the link of an invitation. */
import { createPortalToken, hashPortalToken, IdentityRefused } from '../../../security';
import { identityNonce } from '../../../domain/migration/identity-sign-in';
import { ErrorSchema } from '../../contract/requests';
import {
  FinishIdentitySignInSchema,
  IdentitySignInStartedSchema,
  SessionSchema,
  StartIdentitySignInSchema,
} from '../../contract/session';
import { assertNamesOrigin } from '../access';
import type { Api } from '../api';
import type { PortalContext } from '../context';
import { forbidden, PortalError, unavailable } from '../errors';
import { IdentityProviderFailed, type IdentityProvider } from '../identity-provider';
import { limiter } from '../limits';
import { sessionCookie } from '../session-token';
import { noPendingSignInCookie, pendingSignInCookie, pendingSignInOf, type PendingSignIn } from '../sign-in-cookie';
import { signInAndWait, unknownAccount } from '../sign-ins';
import { logSignIn, publicFieldsOf } from './session';

const ERRORS = {
  403: ErrorSchema,
  404: ErrorSchema.describe('The portal has no identity provider.'),
  503: ErrorSchema,
};

/** The routes return a session only as a cookie, which is for browsers. */
const IN_BROWSER = 'A program cannot sign in with an account. Open the link of the invitation in a browser.';

export function identityRoutes(app: Api, context: PortalContext): void {
  const { identityProvider, limits, sessionLifetimeMs } = context;

  app.post(
    '/api/session/identity',
    {
      config: { access: 'everyone' },
      // Counts the request before its body is read.
      onRequest: limiter(app, limits.redemptionsPerMinute),
      schema: {
        summary: 'Start a sign-in at the identity provider',
        description:
          'For browsers, if the invitation is for an account. The answer has the address at which the person signs in, ' +
          'with the authorization code flow of OpenID Connect and PKCE. The identity provider then redirects the browser ' +
          'to `/sign-in`. 404: the portal has no identity provider.',
        tags: ['Session'],
        body: StartIdentitySignInSchema,
        response: {
          200: IdentitySignInStartedSchema.describe('Where the person signs in.'),
          ...ERRORS,
        },
      },
    },
    async (request, reply) => {
      const provider = assertConfigured(identityProvider);
      assertNamesOrigin(request, IN_BROWSER);
      const { migrationId, publicKey } = request.body;
      const [token, state, verifier] = [createPortalToken(), createPortalToken(), createPortalToken()];
      const pending = { migrationId, publicKey, token, state, verifier };
      const address = await provider
        .signInAddress({ state, verifier, nonce: nonceOf(pending) })
        .catch((error: unknown) => failed(error, request.log));
      void reply.header('set-cookie', pendingSignInCookie(pending));
      return { address };
    },
  );

  app.post(
    '/api/session/identity/answer',
    {
      config: { access: 'everyone' },
      onRequest: limiter(app, limits.redemptionsPerMinute),
      schema: {
        summary: 'Sign in with the answer of the identity provider',
        description:
          'At the first sign-in, the verified email address must be the email address of the invitation. At each later ' +
          'sign-in, the account identifies the person. A worker checks the ID token and creates the session. The portal ' +
          'returns the session as a cookie.',
        tags: ['Session'],
        body: FinishIdentitySignInSchema,
        response: {
          200: SessionSchema.describe('The new session.'),
          ...ERRORS,
        },
      },
    },
    async (request, reply) => {
      const provider = assertConfigured(identityProvider);
      assertNamesOrigin(request, IN_BROWSER);
      const pending = pendingSignInOf(request);
      if (!pending) throw notBegun();
      // Delete the cookie now, even if this attempt fails, because the identity provider's answer works only once.
      void reply.header('set-cookie', noPendingSignInCookie());
      const { migrationId, publicKey, token, state, verifier } = pending;
      const { idToken, ...identity } = await provider
        .identityOf(request.body.query, { state, verifier, nonce: nonceOf(pending) })
        .catch((error: unknown) => failed(error, request.log));
      const session = await signInAndWait(
        context,
        {
          ...{ sessionHash: hashPortalToken(token), migrationId, publicKey, identity },
          ...{ proof: { idToken }, lifetimeMs: sessionLifetimeMs },
        },
        () => reply.raw.destroyed,
      );
      logSignIn(request, session, 'a person has signed in with an account');
      void reply.header('set-cookie', sessionCookie(token, sessionLifetimeMs));
      return publicFieldsOf(session);
    },
  );
}

function nonceOf({ migrationId, publicKey, token }: PendingSignIn): string {
  return identityNonce({ migrationId, publicKey, sessionHash: hashPortalToken(token).toString('hex') });
}

/** @throws {PortalError} 404 */
function assertConfigured(provider: IdentityProvider | undefined): IdentityProvider {
  if (provider === undefined) throw noProvider();
  return provider;
}

/** Logs why the sign-in failed, and throws an error for the person, which leaves out the details. */
function failed(error: unknown, log: { warn(fields: object, text: string): void }): never {
  if (!(error instanceof IdentityRefused) && !(error instanceof IdentityProviderFailed)) throw error;
  log.warn({ reason: error.message, code: codeOf(error.cause) }, 'signing in at the identity provider failed');
  if (isDenied(error)) throw deniedAtProvider();
  if (error instanceof IdentityRefused) throw unknownAccount();
  throw unavailable(
    'The portal cannot sign you in with your account at the moment.',
    'Try again in a few minutes. If this happens again, tell your contact.',
    30,
  );
}

/** Returns whether the person cancelled the sign-in at the identity provider, or the identity provider denied it. */
const isDenied = ({ cause }: Error): boolean =>
  cause instanceof Error && 'error' in cause && cause.error === 'access_denied';

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

const noProvider = () =>
  new PortalError(
    404,
    'This portal has no identity provider, so you cannot sign in with an account.',
    'Tell your contact, who can also send you an invitation that needs no account.',
  );

/** Reveals nothing about the invitation, because the browser already has this answer of the identity provider. */
const deniedAtProvider = () =>
  forbidden(
    'The sign-in was cancelled or denied at the identity provider.',
    'If you did not cancel it, tell your contact.',
  );

const notBegun = () =>
  forbidden(
    'The sign-in was not started in this browser, or it took longer than ten minutes.',
    'Open the link in your invitation again.',
  );
