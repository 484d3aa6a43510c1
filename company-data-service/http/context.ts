import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Company, Connection } from '../companies/companies';
import type { AuthorizationDependencies } from '../connections/authorize';
import type { Caller } from './authentication';

export interface ServiceContext extends AuthorizationDependencies {
  /** Returns the public URL of the service, without a trailing slash. It is known once the service is listening. */
  readonly publicUrl: () => string;
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The account and role of the request's API key. Set on every route that requires a key. */
    caller: Caller;
    /** Set by `loadCompany`, before the body is read. */
    company: Company;
    /** Set by `loadConnection`, before the body is read. */
    connection: Connection;
  }
}
