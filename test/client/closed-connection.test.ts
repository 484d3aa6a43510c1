import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connect } from '../../client/connect';
import { loadConfig } from '../../config';

/**
 * Starts a server that answers every call with UNAVAILABLE, except `GetSystemInfo`, the first call of a new connection.
 */
async function startUnavailableServer() {
  const server = createServer();
  let calls = 0;
  server.on('stream', (stream, { ':path': path }) => {
    const isFirst = path?.endsWith('GetSystemInfo') ?? false;
    if (!isFirst) calls += 1;
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', ...(isFirst ? {} : { 'grpc-status': '14' }) },
      { waitForTrailers: isFirst },
    );
    if (!isFirst) {
      stream.end();
      return;
    }
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

test('a call that is retried when its connection closes is cancelled, instead of ending the process', async () => {
  const { server, address, calls } = await startUnavailableServer();
  const connection = await connect(loadConfig(['temporal'], { TEMPORAL_ADDRESS: address }));
  const call = connection.workflowService.listNamespaces({}).catch((error: unknown) => error);
  while (calls() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await connection.close();
  expect(await call).toMatchObject({ code: 1, details: 'the connection was closed' });
  server.close();
});
