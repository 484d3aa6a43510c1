import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { nextFreePort } from '../../dev/ports';

test('a port that is taken gives way to the next free one', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  expect(await nextFreePort(port)).toBeGreaterThan(port);
  server.close();
  await once(server, 'close');
  expect(await nextFreePort(port)).toBe(port);
});

test('any port will do where none is named', async () => {
  expect(await nextFreePort(0)).toBeGreaterThan(1_023);
});
