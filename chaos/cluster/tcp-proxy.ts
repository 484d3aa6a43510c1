import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy that forwards TCP connections to one address, and can cut them. */
export interface TcpProxy {
  /** The port on 127.0.0.1. */
  readonly port: number;
  /** Resets every open connection. Does not affect new connections. */
  cut(): void;
  /** True: resets each new connection at once. Open connections stay. False: forwards new connections again. */
  refuse(refuse: boolean): void;
  close(): Promise<void>;
}

/** @param target returns the port on 127.0.0.1 to which a new connection is forwarded */
export async function startTcpProxy(target: () => number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let refusing = false;

  function track(socket: Socket): void {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // 'close' follows, and ends the other side
    socket.on('close', () => open.delete(socket));
  }

  const server = createServer((client) => {
    if (refusing) {
      client.on('error', () => undefined);
      resetConnection(client);
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: target() });
    for (const socket of [client, upstream]) track(socket);
    client.pipe(upstream);
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  function cut(): void {
    for (const socket of open) resetConnection(socket);
  }

  return {
    port,
    cut,
    refuse: (refuse) => {
      refusing = refuse;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

/**
 * Closes a connection with a TCP reset.
 *
 * If `end` has been called and has not finished, Node refuses the reset with EINVAL and never releases the socket. A
 * process with such a socket uses a whole core at its exit and does not end. The socket is therefore destroyed instead.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
