import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { PortalSession } from '../contract/session';

/**
 * Who may use a route:
 *
 * - `everyone`: no session is needed
 * - `session`: a person with a session, in any role
 * - `client`: a person with a session in the role `client`
 */
export type Access = 'everyone' | 'session' | 'client';

/** The session of a request. */
export interface SignedIn extends PortalSession {
  readonly invitationId: string;
  /** SHA-256 of the session's token: the first argument of the SQL functions about a migration. */
  readonly hash: Buffer;
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** True if the route accepts the large bodies of sealed credentials and of manifests. */
    isLargeBody?: boolean;
    /** True if the answer can be many megabytes long. */
    isLargeAnswer?: boolean;
    /** True if the answer is an event stream, which has limits of its own. */
    isStream?: boolean;
  }
  interface FastifyRequest {
    /** Set on every route with access `session` or `client`. */
    signedIn: SignedIn;
  }
}
