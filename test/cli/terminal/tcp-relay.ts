import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Forwards connections between a command and a server, to simulate an outage for that command only. */
export interface Relay {
  /** The address to connect to, as `host:port`. */
  readonly address: string;
  /** Closes every connection and accepts no new ones. */
  cut(): Promise<void>;
  /** Keeps every connection open, but forwards nothing any more, like a server whose process is stopped. */
  freeze(): void;
  /** Accepts connections again after `cut`. */
  restore(): Promise<void>;
}

export async function startRelay(address: string): Promise<Relay> {
  const [host = '', port = ''] = address.split(':');
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server: Server = createServer((near) => {
    if (isFrozen) return void sockets.add(near.on('error', () => undefined).pause());
    const far = connect(Number(port), host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${ownPort}`,
    cut: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore: () => listen(ownPort),
  };
}
