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
import type { SecretCipher } from '../credentials/secret-cipher';
import type { Platforms } from '../platform/platform';
import type { Caller } from './authentication';

export interface ServiceContext {
  /** For queries that do not wait for a platform. */
  readonly db: Database;
  /**
   * For transactions that wait for a platform, or for a lock held by such a transaction. A separate pool, so that slow
   * platforms do not delay reads, and so that these transactions cannot take all connections of `db`: an authorization
   * or a sync also needs a connection of `db` to finish.
   */
  readonly waitingDb: Database;
  readonly platforms: Platforms;
  readonly cipher: SecretCipher;
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
