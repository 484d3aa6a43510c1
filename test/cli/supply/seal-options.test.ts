/** Tests that `ferry seal` checks its options before it reads the migration key and asks about its fingerprint. */
import path from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';
import { ferry } from '../captured-terminal';

const folder = temporaryFolder();

test.each([
  [
    ['--environment', 'sandbox'],
    '--environment needs --client-id; nothing was sealed; if the file contains a client secret, add --client-id with the client id of its application; if it contains credentials, leave out --environment',
  ],
  [
    ['--client-id', 'my-app'],
    '--client-id needs --environment; nothing was sealed; add --environment production or --environment sandbox',
  ],
])('%j is refused before the key is read', async (options, says) => {
  const key = path.join(folder, 'missing.key');
  const { exitCode, err } = await ferry(['seal', 'secret.txt', '--for', key, ...options], undefined, {
    TOKENFERRY_HOME: folder,
  });
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: `ferry: ${says}\n` });
});
