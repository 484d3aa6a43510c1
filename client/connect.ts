import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type Headers,
  type WorkflowClientInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Config } from '../config';
import { createDataConverter, createPlainDataConverter, type SigningKey } from '../security';
import { DatabaseUnavailable, openDatabase, serverOf, type Database } from '../store';
import { Unreachable } from './errors';
import { startTracing, currentTraceparent, inSpan } from '../observability/tracing';
import { TRACE_HEADER } from '../domain/text/trace-context';

/**
 * A connection to Temporal, and to the ledger if it is configured. Temporal is enough to read progress and to decide.
 */
export interface MigrationClient {
  /** Decodes payloads with the configured payload keys. */
  readonly temporal: Client;
  /** Decodes no payloads. Reads states, dates and search attributes even if a payload key is missing. */
  readonly temporalWithoutCodec: Client;
  /** The ledger, which has every company and newer counts than Temporal. Absent if no database is configured. */
  readonly db?: Database;
  /** The key that signs the decisions of its owner. Absent: decisions are not signed. */
  readonly signer?: SigningKey;
  /**
   * Fingerprint of the provider key, which must have signed a vault's public key before this public key seals a
   * credential. Absent: the signature is not checked.
   */
  readonly providerFingerprint?: string | undefined;
  /** The portal's address for clients, which advice names. Absent: not known. */
  readonly portalUrl?: string | undefined;
  close(): Promise<void>;
}

/** A client with the ledger. Support uses it, and starting a migration requires it. */
export interface LedgerClient extends MigrationClient {
  readonly db: Database;
}

/** Configuration from `loadConfig`. Temporal and payload keys are required; the other parts are optional. */
export type MigrationClientConfig = Config<'temporal' | 'payloadKeys'> &
  Partial<Config<'databaseUrl' | 'signingKey' | 'providerFingerprint' | 'portalUrl' | 'tracing'>>;

/** Configuration from `loadConfig` with a database. */
export type LedgerClientConfig = MigrationClientConfig & Config<'databaseUrl'>;

interface CloseOptions {
  /**
   * How long `close` waits for the database, in milliseconds. Then statements in progress fail. By default, it waits
   * without a limit.
   */
  readonly closeWithinMs?: number;
}

interface LedgerOptions extends CloseOptions {
  /** True to create the ledger if the database contains none. By default, such a database is refused. */
  readonly createLedger?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * The longest wait between two attempts to connect again. Short, because a person is looking at the display. By
 * default, gRPC waits up to two minutes, and during that time every call fails although Temporal answers again.
 */
const RECONNECT_SOON = { 'grpc.max_reconnect_backoff_ms': 2_000 };
/** Time limit of an export of traces. Short, because a person is waiting for the command to end. */
const EXPORT_WITHIN_MS = 2_000;

/**
 * Connects to Temporal, and to the ledger if a database is configured. Waits at most 5 s.
 *
 * @throws Unreachable
 * @throws LedgerMissing if the database contains no ledger
 * @throws DatabaseUnavailable if Postgres answers, but the database cannot be used
 */
export async function openMigrationClient(
  config: MigrationClientConfig,
  options: CloseOptions = {},
): Promise<MigrationClient> {
  const { databaseUrl } = config;
  return databaseUrl === undefined
    ? createClient(await connect(config), config)
    : openLedgerClient({ ...config, databaseUrl }, options);
}

/**
 * Connects to Temporal and to the ledger. Waits at most 5 s. If one connection fails, closes the other.
 *
 * @throws Unreachable
 * @throws LedgerMissing if the database contains no ledger, unless `createLedger` is true
 * @throws DatabaseUnavailable if Postgres answers, but the database cannot be used
 */
export async function openLedgerClient(
  config: LedgerClientConfig,
  { closeWithinMs, createLedger }: LedgerOptions = {},
): Promise<LedgerClient> {
  const url = config.databaseUrl.reveal();
  const [connection, database] = await Promise.allSettled([
    connect(config),
    openDatabase({ url, connections: 4, connectTimeoutMs: CONNECT_TIMEOUT_MS, closeWithinMs, createLedger }),
  ]);
  if (connection.status === 'fulfilled' && database.status === 'fulfilled') {
    const client = createClient(connection.value, config);
    const db = database.value;
    return {
      ...client,
      db,
      close: async () => {
        await Promise.all([client.close(), db.destroy()]);
      },
    };
  }
  if (connection.status === 'fulfilled') await connection.value.close();
  if (database.status === 'fulfilled') await database.value.destroy();
  if (connection.status === 'rejected') throw connection.reason;
  const reason: unknown = database.status === 'rejected' ? database.reason : undefined;
  // The server answers, but the database cannot be used, for example because the password is wrong.
  if (reason instanceof DatabaseUnavailable && !reason.isOutage) throw reason;
  const serverReason = reason instanceof DatabaseUnavailable ? reason.serverReason : null;
  throw new Unreachable('Postgres', serverOf(url), { cause: reason, reason: serverReason });
}

/**
 * Connects to Temporal. Waits at most 5 s.
 *
 * @throws Unreachable
 */
export async function connect({ temporal }: Pick<Config<'temporal'>, 'temporal'>): Promise<Connection> {
  let isClosed = false;
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endCallsOnceClosed(() => isClosed)];
  try {
    const options = {
      ...temporal.connectionOptions,
      channelArgs: RECONNECT_SOON,
      interceptors,
      connectTimeout: CONNECT_TIMEOUT_MS,
    };
    const connection = await Connection.connect(options);
    const close = connection.close.bind(connection);
    return Object.assign(connection, {
      close: async () => {
        isClosed = true;
        await close();
      },
    });
  } catch (error) {
    throw new Unreachable('Temporal', temporal.address, { cause: error });
  }
}

function createClient(
  connection: Connection,
  { temporal, payloadKeys, signingKey, providerFingerprint, portalUrl, tracing }: MigrationClientConfig,
): MigrationClient {
  const { namespace } = temporal;
  if (tracing) startTracing({ name: 'ferry', exportWithinMs: EXPORT_WITHIN_MS });
  const interceptors = { workflow: tracing ? [traceMessages] : [] };
  return {
    temporal: new Client({ connection, namespace, dataConverter: createDataConverter(payloadKeys), interceptors }),
    temporalWithoutCodec: new Client({ connection, namespace, dataConverter: createPlainDataConverter() }),
    ...(signingKey === undefined ? {} : { signer: signingKey }),
    ...{ providerFingerprint, portalUrl },
    close: () => connection.close(),
  };
}

/** Passes the current trace to the workflow that a client starts or sends a message to. */
const traceMessages: WorkflowClientInterceptor = {
  start: (input, next) => inSpan({ name: `start ${input.workflowType}`, kind: 'client' }, () => next(withTrace(input))),
  signal: (input, next) => inSpan({ name: `signal ${input.signalName}`, kind: 'client' }, () => next(withTrace(input))),
  startUpdate: (input, next) =>
    inSpan({ name: `update ${input.updateName}`, kind: 'client' }, () => next(withTrace(input))),
};

function withTrace<T extends { readonly headers: Headers }>(input: T): T {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return input;
  const header = defaultPayloadConverter.toPayload(traceparent);
  return { ...input, headers: { ...input.headers, [TRACE_HEADER]: header } };
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type EndedCall = Pick<ReturnType<Interceptor>, 'start' | 'sendMessage' | 'halfClose'>;

/** gRPC's status for a call that was cancelled, which the SDK does not retry. */
const CANCELLED = 1;

/**
 * Creates an interceptor that ends calls once the connection is closed. It must come after the retrying interceptor,
 * because that interceptor repeats calls from a timer. An error of a closed channel in a timer would end the process.
 */
function endCallsOnceClosed(isClosed: () => boolean): Interceptor {
  const intercept = (...[options, nextCall]: Parameters<Interceptor>) =>
    isClosed() ? (cancelledCall() as ReturnType<typeof nextCall>) : nextCall(options);
  return intercept as Interceptor;
}

/** Returns a call that ends at once. When the retrying interceptor repeats a call, it uses only these methods. */
function cancelledCall(): EndedCall {
  return {
    start: (metadata, listener) =>
      listener?.onReceiveStatus?.({ code: CANCELLED, details: 'the connection was closed', metadata }),
    sendMessage: () => undefined,
    halfClose: () => undefined,
  };
}
