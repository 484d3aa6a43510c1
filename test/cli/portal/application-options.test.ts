/** Tests options of `ferry --portal application` that contradict one another. */
import { rmSync } from 'node:fs';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each([
  ['--client-id', 'my-app'],
  ['--environment', 'sandbox'],
  ['--secret-file', 'secret.txt'],
])('a sealed file replaces %s, so both together are refused', async (option, value) => {
  const urls: (string | undefined)[] = [];
  const session = {
    ...{ migrationId: ID, person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32), isKeyConfirmed: true },
    expiresAt: '2026-11-20T10:00:00.000Z',
  };
  const { exitCode, err } = await runAgainst(
    ({ url }, response) => {
      urls.push(url);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(session));
    },
    { home, signingKey: createSigningKey('client') },
    ...['application', '--sealed', 'a.sealed', option, value],
  );
  expect({ exitCode, err, urls }).toEqual({
    exitCode: 1,
    err: 'ferry: a.sealed contains the client id, the environment and the secret; nothing was sent; leave out --client-id, --environment and --secret-file\n',
    urls: ['/api/session'],
  });
});
