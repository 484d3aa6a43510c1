/** Tests the advice about a sealed file that no worker could open. */
import { assertSealedWith, type SealedFor } from '../../../cli/portal/sealing-key';
import { CommandFailed } from '../../../cli/shared/errors';
import { fingerprintOf } from '../../../security';

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
