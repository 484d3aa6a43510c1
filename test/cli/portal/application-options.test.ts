/** Tests options of `ferry --portal application` and `seal` that contradict one another, or are not complete. */
import { rmSync } from 'node:fs';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command, and returns its result and the paths that it has read from the portal. */
async function runAndRecord(...args: string[]) {
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
    ...args,
  );
  return { exitCode, err, urls };
}

test.each([
  ['--client-id', 'my-app'],
  ['--environment', 'sandbox'],
  ['--secret-file', 'secret.txt'],
])('a sealed file replaces %s, so both together are refused', async (option, value) => {
  expect(await runAndRecord('application', '--sealed', 'a.sealed', option, value)).toEqual({
    exitCode: 1,
    err: 'ferry: a.sealed contains the client id, the environment and the secret; nothing was sent; leave out --client-id, --environment and --secret-file\n',
    urls: ['/api/session'],
  });
});

test.each([
  [['application', '--client-id', 'my-app'], /^ferry: --client-id needs --environment; nothing was sent; /],
  [['application', '--environment', 'sandbox'], /^ferry: --environment needs --client-id; nothing was sent; /],
  [['application'], /^ferry: the application is not specified; /],
  [['seal', 'secret.txt', '--environment', 'sandbox'], /^ferry: --environment needs --client-id; nothing was sealed; /],
  [['seal', 'secret.txt', '--client-id', 'my-app'], /^ferry: --client-id needs --environment; nothing was sealed; /],
])('%j is refused before the key is read', async (args, says) => {
  const { exitCode, err, urls } = await runAndRecord(...args);
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringMatching(says) as string });
  expect(urls).not.toContain('/api/migration');
});
