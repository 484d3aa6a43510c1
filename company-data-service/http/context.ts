import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Company, Connection } from '../companies/companies';
import type { Database } from '../database/database';
import type { Platforms } from '../platform/platform';
import type { Caller } from './authentication';

export interface ServiceContext {
  /** For queries that are answered at once. */
  readonly db: Database;
  /** For transactions that wait for a platform; separate, so that slow platforms do not delay reads. */
  readonly slowDb: Database;
  readonly platforms: Platforms;
  /** Returns the public URL of the service, without a trailing slash. Known once it listens. */
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
    /** The owner of the request's API key. Set on every route that needs a key. */
    caller: Caller;
    /** Set by `loadCompany`, before the body is read. */
    company: Company;
    /** Set by `loadConnection`, before the body is read. */
    connection: Connection;
  }
}
