/** How often a client tries to connect to Temporal during an outage. */
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerHttp2Session } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { connect } from '../../client/connect';
import { loadConfig } from '../../config';

/** Starts a server that answers `GetSystemInfo`, the first call of a new connection, and that can be stopped. */
async function startServer() {
  const server = createHttpServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => void sessions.add(session));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
  };
  return { port, stop };
}

test('during an outage, a client tries to connect every few seconds, however long the outage is', async () => {
  const { port, stop } = await startServer();
  const connection = await connect(loadConfig(['temporal'], { TEMPORAL_ADDRESS: `127.0.0.1:${port}` }));
  await stop();
  const attempts: number[] = [];
  const refusing = createServer((socket) => {
    attempts.push(Date.now());
    socket.on('error', () => undefined).resetAndDestroy();
  });
  refusing.listen(port, '127.0.0.1');
  await once(refusing, 'listening');
  // Call Temporal repeatedly, as a display that keeps refreshing does.
  while (attempts.length < 7)
    await connection.withDeadline(Date.now() + 200, () =>
      connection.workflowService.getClusterInfo({}).catch(() => undefined),
    );
  const waits = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  expect(Math.max(...waits)).toBeLessThan(3_500);
  await connection.close();
  refusing.close();
}, 60_000);
