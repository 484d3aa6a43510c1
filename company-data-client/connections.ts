/**
 * Connections to the service: opened when they are needed, kept while they are idle, used by one request at a time.
 *
 * Each connection is an undici `Client`, which has at most one socket and never sends a request twice. undici's `Pool`
 * is not used, because a caller cannot choose its connection.
 *
 * ## Which connection a request gets
 *
 * - `any`: the idle connection that was used last, or a new one. If the service closes an idle connection just as a
 *   request is sent, the response is lost. That does not matter for a request that can be repeated.
 * - `certain`, for authorizations: an idle connection that the service cannot be closing, or a new one. The service
 *   announces how long it keeps an idle connection (`Keep-Alive: timeout=…`), counted from its response. A connection
 *   is certain for half of that time, but at most 10 s, counted from its last request. The request was sent before the
 *   response, so the time never begins too late. The other half allows for the time that the next request takes to
 *   arrive.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildConnector, Client } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;
/** How long a connection is certain if the service announces nothing. Some servers close idle connections after 2 s. */
const CERTAIN_UNANNOUNCED_MS = 1_000;
/** The longest time that a connection is certain, because a proxy can close it earlier than the service announces. */
const MAX_CERTAIN_MS = 10_000;

export interface Connection {
  readonly client: Client;
  isConnected: boolean;
  /** The service does not close the connection before this moment. Milliseconds of `performance.now()`. */
  certainUntil: number;
}

export interface Connections {
  /** Returns a connection that no other request uses until it is kept or dropped. */
  take(need: 'any' | 'certain'): Connection;
  /**
   * Gives a connection back after a complete response. Waits for one turn of Node's event loop, because some servers
   * close a connection immediately after a response, without announcing it. Node notices that in the next turn.
   *
   * @param askedAt when the connection's request was sent, in milliseconds of `performance.now()`
   */
  keep(connection: Connection, headers: IncomingHttpHeaders, askedAt: number): Promise<void>;
  /** Closes a connection whose request was cancelled or got no complete response. */
  drop(connection: Connection): void;
  readonly isClosed: boolean;
  /** Waits until no request is in flight, then closes all connections. */
  close(): Promise<void>;
}

export function createConnections(origin: string): Connections {
  // One connector for all connections, because it keeps the TLS sessions, which make the next handshake shorter.
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const open = new Set<Connection>();
  /** Connections with an open socket, in the order of their last use. */
  const idle: Connection[] = [];
  let isClosed = false;

  function create(): Connection {
    // undici's own time-outs are coarse and restart with every chunk of the body. The transport has one exact deadline.
    const client = new Client(origin, { connect, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
    const connection: Connection = { client, isConnected: false, certainUntil: 0 };
    client.on('connect', () => (connection.isConnected = true));
    client.on('disconnect', () => {
      connection.isConnected = false;
      // Drop only an idle connection. If a request is using the connection, undici fails the request or connects again.
      const index = idle.indexOf(connection);
      if (index === -1) return;
      idle.splice(index, 1);
      drop(connection);
    });
    open.add(connection);
    return connection;
  }

  function drop(connection: Connection): void {
    open.delete(connection);
    void connection.client.destroy();
  }

  return {
    take(need) {
      if (need === 'any') return idle.pop() ?? create();
      const now = performance.now();
      const index = idle.findLastIndex(({ certainUntil }) => now < certainUntil);
      if (index !== -1) return idle.splice(index, 1)[0] ?? create();
      // Replace the oldest idle connection. The number of connections then never exceeds the highest number that were
      // in use at the same time.
      const oldest = idle.shift();
      if (oldest) drop(oldest);
      return create();
    },

    async keep(connection, headers, askedAt) {
      await nextTurn();
      if (!connection.isConnected) return drop(connection);
      connection.certainUntil = askedAt + certainMs(headers);
      idle.push(connection);
    },

    drop,

    get isClosed() {
      return isClosed;
    },

    async close() {
      isClosed = true;
      await Promise.all([...open].map(({ client }) => client.close()));
    },
  };
}

function certainMs(headers: IncomingHttpHeaders): number {
  const seconds = /\btimeout\s*=\s*(\d{1,9})\b/i.exec(String(headers['keep-alive'] ?? ''))?.[1];
  return seconds === undefined ? CERTAIN_UNANNOUNCED_MS : Math.min((Number(seconds) * 1_000) / 2, MAX_CERTAIN_MS);
}
