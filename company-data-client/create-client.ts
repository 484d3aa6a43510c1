/** Creates the client: builds the request of each endpoint and decides which requests are idempotent. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Secret } from '../security/secret';
import {
  type Answer,
  type Call,
  type CallOptions,
  createCaller,
  type IgnoredWait,
  labelOf,
  type RequestSpan,
} from './caller';
import { type RetryWait } from './retry-budget';
import type { CompanyDataClient, TagPrefix } from './client';
import { withoutSecrets } from './credential-masking';
import { followLink, parseAddress, pathTo, type Query } from './links';
import { eachResult } from './paging';
import * as schemas from './schemas';
import { createTransport } from './transport';

type Tags = Readonly<Record<string, string>>;

/**
 * The maximum number of requests that one client has in flight, not counting authorizations, which have a limit of the
 * same size. All migrations of a worker share the client.
 */
export const MAX_IN_FLIGHT = 256;

export interface CompanyDataClientOptions {
  /** Base URL of the service's API. It can have a path: `https://api.example.com/v2`. */
  readonly baseUrl: string;
  /** API key of the account. It is sent only to the origin of `baseUrl` and is never part of an error. */
  readonly apiKey: Secret;
  /**
   * Maximum number of requests in flight, not counting authorizations, which have a limit of the same size. Further
   * calls wait, within their retry budget. Connections are opened when they are needed. This number does not protect
   * the service; the rate limiter does. Default: `MAX_IN_FLIGHT`.
   */
  readonly connections?: number | undefined;
  /**
   * Time limit of one attempt, in milliseconds from getting a connection to the complete response. An attempt that
   * exceeds the limit is retried if the call is idempotent. Default: 30,000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Time limit of an authorization, in milliseconds. It is longer than the limit of other calls, because the service
   * calls the platform before it responds. An authorization that exceeds the limit is not retried, because its token
   * might have been used. Default: 90,000.
   */
  readonly authorizationTimeoutMs?: number | undefined;
  /**
   * Time for all attempts of one call and the waits between them, in milliseconds. No attempt starts after that, so a
   * call ends within the budget plus the time limit of one attempt. 0 means a single attempt. Default: 60,000.
   */
  readonly retryBudgetMs?: number | undefined;
  /**
   * Upper bound of the random wait before the first retry, in milliseconds. The bound doubles with each retry, to at
   * most 30 times this value. Default: 500.
   */
  readonly firstRetryWaitMs?: number | undefined;
  /** Called before each wait for a retry, to log, count or heartbeat. Optional. */
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
  /**
   * Called when a response asks for a wait of more than `LONGEST_WAIT_MS`. Such a wait is ignored. The worker logs a
   * warning. Optional.
   */
  readonly onIgnoredWait?: ((wait: IgnoredWait) => void) | undefined;
  /** Called after each request that was not cancelled, to count requests. Optional. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
  /**
   * Called before each request, with its method and path. Returns the span of the request, or null if it is not traced.
   * Default: no request is traced.
   */
  readonly traceRequest?: ((method: string, path: string) => RequestSpan | null) | undefined;
}

/** @throws {TypeError} if `baseUrl` is not an http or https URL */
export function createCompanyDataClient(options: CompanyDataClientOptions): CompanyDataClient {
  const { requestTimeoutMs = 30_000, authorizationTimeoutMs = 90_000, firstRetryWaitMs = 500 } = options;
  const address = parseAddress(options.baseUrl);
  const apiKey = options.apiKey.reveal();
  const encodedKey = Buffer.from(apiKey).toString('base64');
  const transport = createTransport({
    origin: address.origin,
    authorization: `Basic ${encodedKey}`,
    connections: options.connections ?? MAX_IN_FLIGHT,
  });
  const caller = createCaller({
    transport,
    secrets: [apiKey, encodedKey],
    retry: {
      budgetMs: options.retryBudgetMs ?? 60_000,
      firstWaitMs: firstRetryWaitMs,
      longestWaitMs: 30 * firstRetryWaitMs,
    },
    onWait: (wait) => options.onWait?.(wait),
    onIgnoredWait: (wait) => options.onIgnoredWait?.(wait),
    onAnswer: (answer) => options.onAnswer?.(answer),
    traceRequest: options.traceRequest ?? (() => null),
  });

  /** Builds a call, which is idempotent unless overridden, because POST and PATCH carry an idempotency key. */
  const callTo = (
    method: Call['method'],
    segments: readonly string[],
    { query, ...overrides }: Partial<Call> & { readonly query?: Query | undefined } = {},
  ): Call => ({
    method,
    path: pathTo(address, segments, query),
    idempotent: true,
    timeoutMs: requestTimeoutMs,
    ...((method === 'POST' || method === 'PATCH') && { idempotencyKey: randomUUID() }),
    ...overrides,
  });

  /** Reads one resource. */
  const get = <S extends z.ZodType>(segments: readonly string[], schema: S, options?: CallOptions) =>
    caller.read(callTo('GET', segments), schema, options);

  function list<T extends { readonly id: string }>(
    page: z.ZodType<schemas.Page<T>>,
    segments: readonly string[],
    options: CallOptions | undefined,
    query?: Query,
  ): AsyncIterable<T> {
    const first = callTo('GET', segments, { query });
    return eachResult({
      call: labelOf(first),
      firstPath: first.path,
      readPage: async (path) => (await caller.read({ ...first, path }, page, options)).value,
      follow: (currentPath, href) => followLink(address, currentPath, href),
      idOf: ({ id }) => id,
    });
  }
  const companyPath = (companyId: string, ...segments: readonly string[]) => ['companies', companyId, ...segments];
  const connectionPath = (companyId: string, connectionId: string, ...segments: readonly string[]) =>
    companyPath(companyId, 'connections', connectionId, ...segments);

  const readRecords: CompanyDataClient['records'] = (companyId, dataType, { page, pageSize, where } = {}, options) => {
    const call = callTo('GET', companyPath(companyId, 'data', dataType), { query: { ...where, page, pageSize } });
    return caller.read(call, schemas.recordPageSchema, options);
  };

  return {
    account: (options) => get(['account'], schemas.accountSchema, options),

    integration: (platformKey, options) => get(['integrations', platformKey], schemas.integrationSchema, options),
    putApplicationCredentials(platformKey, { clientId, clientSecret, environment }, options) {
      const secret = clientSecret.reveal();
      const body = { clientId, clientSecret: secret, environment };
      return caller.send(
        callTo('PUT', ['integrations', platformKey, 'credentials'], { body, secrets: [secret] }),
        options,
      );
    },

    companies({ tags = {}, tagPrefix, query, pageSize } = {}, options) {
      const filter = tagPrefix ? `${tagPrefix.name}~${tagPrefix.prefix}` : firstTag(tags);
      const parameters = { tags: filter, query, pageSize };
      const companies = list(schemas.companyPageSchema, ['companies'], options, parameters);
      return tagPrefix ? withTagPrefix(tagPrefix, companies) : withTags(tags, companies);
    },
    createCompany: ({ name, description, tags }, { idempotencyKey, ...options }) =>
      caller.read(
        callTo('POST', ['companies'], { body: { name, description, tags }, idempotencyKey, isCreation: true }),
        schemas.companySchema,
        options,
      ),
    getCompany: (companyId, options) => get(companyPath(companyId), schemas.companySchema, options),
    deleteCompany: (companyId, options) => caller.send(callTo('DELETE', companyPath(companyId)), options),

    connections: (companyId, options) =>
      list(schemas.connectionPageSchema, companyPath(companyId, 'connections'), options),
    createConnection: (companyId, platformKey, { idempotencyKey, ...options }) =>
      caller.read(
        callTo('POST', companyPath(companyId, 'connections'), {
          body: { platformKey },
          idempotencyKey,
          isCreation: true,
        }),
        schemas.connectionSchema,
        options,
      ),
    getConnection: (companyId, connectionId, options) =>
      get(connectionPath(companyId, connectionId), schemas.connectionSchema, options),
    unlinkConnection: (companyId, connectionId, options) =>
      caller.read(
        callTo('PATCH', connectionPath(companyId, connectionId), { body: { status: 'Unlinked' } }),
        schemas.connectionSchema,
        options,
      ),
    async putAuthorization(companyId, connectionId, fields, options) {
      const body = fields.reveal();
      const secrets = Object.values(body);
      const call = callTo('PUT', connectionPath(companyId, connectionId, 'authorization'), {
        body,
        secrets,
        idempotent: false,
        timeoutMs: authorizationTimeoutMs,
        isAuthorization: true,
      });
      const { value, ...details } = await caller.read(call, schemas.connectionSchema, options);
      return { value: withoutSecrets(value, body), ...details };
    },

    startSync: (companyId, options) =>
      // The service answers with 204. Another success status probably comes from a proxy, and accepting it would make
      // the company wait for syncs that were never queued.
      caller.send(callTo('POST', companyPath(companyId, 'data', 'all'), { isAnsweredWith204: true }), options),
    dataStatus: (companyId, options) => get(companyPath(companyId, 'dataStatus'), schemas.dataStatusSchema, options),
    syncHistory: (companyId, options) =>
      list(schemas.pullOperationPageSchema, companyPath(companyId, 'data', 'history'), options),
    getSync: (companyId, syncId, options) =>
      get(companyPath(companyId, 'data', 'history', syncId), schemas.pullOperationSchema, options),

    records: readRecords,
    async countRecords(companyId, dataType, options) {
      const { value, ...details } = await readRecords(companyId, dataType, { pageSize: 1 }, options);
      return { value: value.totalResults, ...details };
    },

    syncSettings: (companyId, options) =>
      get(companyPath(companyId, 'syncSettings'), schemas.syncSettingsSchema, options),

    push: (companyId, connectionId, dataType, record, { idempotencyKey, ...options }) =>
      caller.read(
        callTo('POST', connectionPath(companyId, connectionId, 'push', dataType), { body: record, idempotencyKey }),
        schemas.pushOperationSchema,
        options,
      ),

    close: () => transport.close(),
  };
}

/**
 * Returns the first tag as a filter, such as `uid=42`. The other tags are not sent, because `withTags` checks all tags
 * anyway.
 */
function firstTag(tags: Tags): string | undefined {
  const [first] = Object.entries(tags);
  return first && `${first[0]}=${first[1]}`;
}

/** Filters by all tags, even the first, because a service that does not support the filter lists every company. */
async function* withTags(tags: Tags, companies: AsyncIterable<schemas.Company>) {
  for await (const company of companies) {
    if (Object.entries(tags).every(([name, value]) => company.tags?.[name] === value)) yield company;
  }
}

/** Filters the companies again, because the service matches the text anywhere in the tag. */
async function* withTagPrefix({ name, prefix }: TagPrefix, companies: AsyncIterable<schemas.Company>) {
  for await (const company of companies) {
    if (company.tags?.[name]?.startsWith(prefix)) yield company;
  }
}
