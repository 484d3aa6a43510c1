/**
 * Tests the advice about a key from the portal that cannot be used, and about a sealed file that no worker can open.
 */
import { assertSealedWith, trustedKey, type SealedFor } from '../../../cli/portal/sealing-key';
import { CommandFailed } from '../../../cli/shared/errors';
import {
  createVaultKey,
  deriveProviderKey,
  fingerprintOf,
  formatMigrationKey,
  providerFingerprint,
  Secret,
} from '../../../security';
import { signedTextOf } from '../../../security/migration-key';
import { capturedStream } from '../captured-terminal';

const key = { migrationId: 'acme.xero', publicKey: Buffer.alloc(65, 4) };
const keyFingerprint = fingerprintOf(key.publicKey);

const CREDENTIALS =
  'supply the original file, or seal it again; if you no longer have it, export the credentials again';
const APPLICATION = 'use --client-id and --environment instead of --sealed, or seal the client secret again';

test('accepts a file that was sealed with the current key', () => {
  const file = { file: 'a.sealed', content: 'credentials' } as const;
  expect(() => assertSealedWith(key, { migrationId: 'acme.xero', keyFingerprint }, file)).not.toThrow();
});

test.each([
  ['credentials', CREDENTIALS],
  ['application', APPLICATION],
] as const)('says how to supply the content of a sealed file: %s', (content, says) => {
  const failure = (sealedFor: SealedFor): string => {
    try {
      assertSealedWith(key, sealedFor, { file: 'a.sealed', content });
    } catch (error) {
      if (error instanceof CommandFailed) return `${error.message}; ${error.advice}`;
    }
    return 'no failure';
  };
  expect(failure({ migrationId: 'acme.xero', keyFingerprint: 'another' })).toBe(
    `a.sealed was sealed with another key of acme.xero; nothing was sent; ${says}`,
  );
  expect(failure({ migrationId: 'bolt.xero', keyFingerprint })).toBe(
    `a.sealed was sealed for bolt.xero, not for acme.xero; nothing was sent; to send the file to bolt.xero, specify bolt.xero directly after the name of the command. Otherwise, ${says}`,
  );
});

describe('a key from the portal that cannot be used', () => {
  const provider = deriveProviderKey(new Secret(Buffer.alloc(32, 1)));
  const facts = { migrationId: key.migrationId, platformKey: 'xero', publicKey: createVaultKey().publicKey };
  const signed = { ...facts, signedBy: provider.publicKey, signature: provider.sign(signedTextOf(facts)) };
  const valid = formatMigrationKey(signed);
  const altered = formatMigrationKey({ ...signed, signature: '0'.repeat(128) });
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  const terminal = { stdout, stderr, env: {}, interruption: () => new AbortController().signal };
  const signIn = {
    ...({ portal: 'https://portal.example', migrationId: key.migrationId, person: 'Cleo', role: 'client' } as const),
    ...{ provider: providerFingerprint(provider.publicKey), signingKey: new Secret(''), token: new Secret('') },
  };
  const trusted = (migrationKey: string, options = {}) =>
    trustedKey({ terminal }, { signIn }, { migrationId: key.migrationId, migrationKey, state: 'running' }, options);

  test.each([
    ['is incomplete', valid.slice(0, -9), {}],
    ['was altered', altered, {}],
    ['was signed by another provider', valid, { provider: 'aaaa' }],
  ])('%s: the client tells its contact, because it cannot get another key', async (_, migrationKey, options) => {
    await expect(trusted(valid)).resolves.toEqual(signed);
    await expect(trusted(migrationKey, options)).rejects.toMatchObject({
      name: 'CommandFailed',
      advice: 'nothing was sealed or sent; tell your contact',
    });
  });
});
