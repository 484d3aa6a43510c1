/**
 * The connection pool for Kysely, a test for database errors that waiting can cure, and the texts that name a database
 * or describe a failure. The orchestrator and the Company Data Service use them.
 */
import { Socket } from 'node:net';
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';
import { PreparedStatements } from './prepared-statements';

/** The connections of a pool, and the statements that are waiting for one of them. */
export interface PoolUsage {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface PoolOptions extends PoolConfig {
  /**
   * Time limit of `end`, in milliseconds. Then all open sockets are destroyed, and statements in progress fail. By
   * default, `end` waits for statements without a limit.
   */
  readonly closeWithinMs?: number | undefined;
}

/**
 * Opens a pool that survives the loss of connections. A statement in progress fails, and the next statement opens a new
 * connection. Frequent statements with parameters are prepared once per connection.
 */
export function openPool({ closeWithinMs, ...config }: PoolOptions): PostgresPool & { usage(): PoolUsage } {
  const sockets = new Set<Socket>();
  const pool = new Pool({ ...config, stream: () => trackedSocket(sockets) });
  // An `error` event without a listener would end the process. If an idle connection is lost, the pool emits the event.
  // If a connection is lost between two statements of a transaction, the connection itself emits it.
  pool.on('error', () => undefined);
  pool.on('connect', (connection) => connection.on('error', () => undefined));
  const statements = new PreparedStatements();
  return {
    connect: async () => new PreparingConnection(await pool.connect(), statements),
    end: async () => {
      if (closeWithinMs !== undefined) destroyAfter(closeWithinMs, sockets);
      await pool.end();
    },
    usage: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
  };
}

function trackedSocket(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

/**
 * Closes the sockets that are still open after `ms` milliseconds. Otherwise, a server that hangs would keep the process
 * running, because it answers neither a statement nor the end of a connection.
 */
function destroyAfter(ms: number, sockets: ReadonlySet<Socket>): void {
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, ms);
  // The timer need not keep the process running: open sockets do, and without them, there is nothing to close.
  timer.unref();
}

class PreparingConnection implements PostgresPoolClient {
  constructor(
    private readonly connection: PoolClient,
    private readonly statements: PreparedStatements,
  ) {}

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(statement: string | PostgresCursor<Row>, values: readonly unknown[] = []): unknown {
    if (typeof statement !== 'string') throw new Error('cursors are not supported');
    return this.run<Row>(statement, values);
  }

  release(): void {
    this.connection.release();
  }

  private async run<Row>(text: string, values: readonly unknown[]) {
    const name = values.length > 0 ? this.statements.nameOf(text) : undefined;
    try {
      const query = { text, values: [...values], ...(name !== undefined && { name }) };
      const result = await this.connection.query(query);
      return result as PostgresQueryResult<Row>;
    } catch (failure) {
      if (isStalePlan(failure)) this.statements.reset();
      throw failure;
    }
  }
}

/**
 * Detects "cached plan must not change result type": the schema has changed since the statement was prepared. The
 * statement had no effect, and succeeds when the caller repeats it.
 */
function isStalePlan(failure: unknown): boolean {
  return failure instanceof DatabaseError && failure.routine === 'RevalidateCachedQuery';
}

/** Node.js's codes for a server that cannot be reached, and the codes in Postgres's classes 08, 53 and 57. */
const OUTAGE_CODE =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|ETIMEDOUT|EHOST(?:UNREACH|DOWN)|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ENOENT|(?:08|53|57)...)$/;

/**
 * Returns whether the database cannot be reached, is starting or stopping, cancels a statement, or has no free
 * connection, memory or disk space. Returns false if the server refuses the password, does not have the database or
 * rejects a statement.
 */
export function isDatabaseOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseOutage);
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string') return OUTAGE_CODE.test(error.code);
  return /^Connection terminated|^Client has encountered a connection error|timeout/.test(error.message);
}

/**
 * Returns the message of a failure to connect. If a host has several addresses, Node.js tries each of them, and reports
 * their failures as one error without a message. Then returns the message of the first failure.
 */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0)
    return failureText(error.errors[0]);
  return error instanceof Error ? error.message || error.name : String(error);
}

/**
 * Returns the host and port to which pg connects, or the folder of the Unix socket. What the URL leaves out comes from
 * pg's variables, for example `PGHOST`, or from its defaults. If the address cannot be shown, says why instead.
 */
export function serverOf(url: string): string {
  const target = targetOf(url);
  return typeof target === 'string' ? HIDDEN[target] : target.server;
}

/**
 * Returns the server like {@link serverOf}, and the database: `host:5432/db`. Leaves out user and password. If the
 * address cannot be shown, says why instead, in parentheses.
 */
export function databaseOf(url: string): string {
  const target = targetOf(url);
  if (target === 'no URL') return '(not a URL)';
  return typeof target === 'string' ? `(${HIDDEN[target]})` : `${target.server}/${target.database}`;
}

/** The texts for addresses of which no part may be shown. */
const HIDDEN = {
  'no URL': 'an address that is not a URL',
  unescaped: 'an address that is not shown, because its password may contain an unescaped @, /, ? or #',
} as const;

interface Target {
  readonly server: string;
  readonly database: string;
}

/**
 * Reads the server and the database of an address. Returns `no URL` if the address cannot be parsed, or has no scheme
 * with `//`: pg would read the text after the scheme, with the password, as the database. Returns `unescaped` if an "@"
 * follows after the host, because the text before the "@" can belong to a password that is not escaped.
 */
function targetOf(url: string): Target | keyof typeof HIDDEN {
  if (!/^[a-z]+:\/\//i.test(url)) return 'no URL';
  if (/^[^/]*\/\/[^/?#]*[/?#][^]*@/.test(url)) return 'unescaped';
  // pg also accepts a URL with a user, but without a host.
  const parsable = URL.canParse(url) ? url : url.replace('@/', '@localhost/');
  if (!URL.canParse(parsable)) return 'no URL';
  const { host, port, database = '' } = clientFor(url, parsable);
  if (host.startsWith('/')) return { server: host, database };
  return { server: `${host.includes(':') ? `[${host}]` : host}:${port}`, database };
}

/** Creates a client, which reads pg's variables too. It does not connect. */
function clientFor(url: string, parsable: string): Client {
  try {
    return new Client({ connectionString: url });
  } catch {
    // pg fails, for example, if the URL names a certificate that does not exist. An attempt to connect reports that.
    const { hostname, port, pathname, searchParams } = new URL(parsable);
    const host = parsable === url ? hostname.replace(/%2f/gi, '/').replace(/^\[(.*)\]$/, '$1') : '';
    return new Client({
      host: searchParams.get('host') || host || undefined,
      port: Number(searchParams.get('port') || port) || undefined,
      database: pathname.slice(1),
    });
  }
}
