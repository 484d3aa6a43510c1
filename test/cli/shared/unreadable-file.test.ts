/** Tests what commands say about a file that does not exist. */
import { tmpdir } from 'node:os';
import { readSealedApplication } from '../../../cli/manifest';
import { readSecretFile } from '../../../cli/options/secret-file';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { ferry } from '../captured-terminal';

const { publicKey: PUBLIC_KEY } = parseSigningKey(new Secret(createSigningKey('Cleo')));
const PROVIDER = ['--provider', 'ab'.repeat(32)];

test.each<[string, readonly string[]]>([
  [
    'ferry audit --verify',
    ['audit', 'acme.xero', '--verify', '/nowhere/trail.jsonl', '--approver', `client:Cleo:${PUBLIC_KEY}`],
  ],
  ['ferry seal --for', ['seal', 'secret.txt', '--for', '/nowhere/migration.key', ...PROVIDER]],
  ['ferry check', ['check', '/nowhere/manifest.csv', '--platform', 'xero', '--offline']],
])('%s says that there is no such file', async (_, words) => {
  const { err, out, exitCode } = await ferry([...words]);
  expect(exitCode).not.toBe(0);
  expect(`${out}${err}`).toMatch(/\/nowhere\/[^]*there is no such file/);
});

test('a missing secret, a missing sealed file, and a folder are named as such', async () => {
  expect(() => readSecretFile('/nowhere/secret')).toThrow('/nowhere/secret cannot be read: there is no such file');
  await expect(readSealedApplication('/nowhere/sealed')).rejects.toThrow(
    '/nowhere/sealed cannot be read: there is no such file',
  );
  await expect(readSealedApplication(tmpdir())).rejects.toThrow('is not a sealed file');
  await expect(readSealedApplication(__filename)).rejects.toThrow('is not a sealed file');
});
