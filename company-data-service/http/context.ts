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

/** What the routes work with. */
export interface ServiceContext {
  /** For what is answered at once. */
  readonly db: Database;
  /** For transactions that wait for a platform: apart, so that slow platforms do not hold up the reads. */
  readonly slowDb: Database;
  readonly platforms: Platforms;
  /** Where this service is reached from outside, without a slash at the end. Known once it listens. */
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
    /** Whose key the request carries. Set on every route that needs a key. */
    caller: Caller;
    /** Set by `loadCompany`, before the body is read. */
    company: Company;
    /** Set by `loadConnection`, before the body is read. */
    connection: Connection;
  }
}
