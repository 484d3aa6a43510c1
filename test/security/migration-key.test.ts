/** A client seals with a migration key offline, so a replaced key must be detected before sealing. */
import { randomBytes } from 'node:crypto';
import {
  assertSignedBy,
  createVaultKey,
  deriveProviderKey,
  fingerprintOf,
  formatMigrationKey,
  type MigrationKey,
  MigrationKeyInvalid,
  parseMigrationKey,
  providerFingerprint,
  Secret,
} from '../../security';
import { signedTextOf } from '../../security/migration-key';

const provider = deriveProviderKey(new Secret(randomBytes(32)));
const FINGERPRINT = providerFingerprint(provider.publicKey);
const attacker = deriveProviderKey(new Secret(randomBytes(32)));

function keyOf(by = provider, migrationId = 'acme.xero'): MigrationKey {
  const facts = { migrationId, platformKey: 'xero', publicKey: createVaultKey().publicKey };
  return { ...facts, signedBy: by.publicKey, signature: by.sign(signedTextOf(facts)) };
}

test('a migration key survives being written as text, even if a mail program wraps the line', () => {
  const key = keyOf();
  const text = formatMigrationKey(key);
  expect(text).toMatch(/^tokenferry-key-1\.[\w-]+$/);
  for (const each of [text, `  ${text}\n`, text.replace(/.{70}/g, '$&\r\n')]) {
    expect(parseMigrationKey(each)).toEqual(key);
    expect(() => assertSignedBy(parseMigrationKey(each), FINGERPRINT)).not.toThrow();
  }
});

test('a fingerprint can be written with capitals, with spaces, or without separators', () => {
  expect(FINGERPRINT).toMatch(/^(?:[\da-f]{4}-){7}[\da-f]{4}$/);
  for (const each of [FINGERPRINT.toUpperCase(), FINGERPRINT.replaceAll('-', ' '), FINGERPRINT.replaceAll('-', '')])
    expect(() => assertSignedBy(keyOf(), each)).not.toThrow();
});

test.each<[string, () => MigrationKey]>([
  ['was signed by someone else', () => keyOf(attacker)],
  ['names the provider, but was signed by someone else', () => ({ ...keyOf(attacker), signedBy: provider.publicKey })],
  ['has another public key', () => ({ ...keyOf(), publicKey: createVaultKey().publicKey })],
  ['is for another migration', () => ({ ...keyOf(), migrationId: 'other.xero' })],
  ['is for another platform', () => ({ ...keyOf(), platformKey: 'qhyg' })],
  ['has no signature', () => ({ ...keyOf(), signature: '0'.repeat(128) })],
  ['has a signer that is not a key', () => ({ ...keyOf(), signedBy: 'f'.repeat(64) })],
])('a key that %s is refused', (_, make) => {
  expect(() => assertSignedBy(parseMigrationKey(formatMigrationKey(make())), FINGERPRINT)).toThrow(MigrationKeyInvalid);
});

test('every changed character of the text is detected', () => {
  const text = formatMigrationKey(keyOf());
  for (let index = 0; index < text.length - 1; index += 1) {
    const altered = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
    expect(() => assertSignedBy(parseMigrationKey(altered), FINGERPRINT)).toThrow(MigrationKeyInvalid);
  }
});

test('other text is refused without being quoted', () => {
  for (const text of ['', 'tokenferry-key-1.', 'tokenferry-key-1.e30', 'secret', '\0'])
    expect(() => parseMigrationKey(text)).toThrow(MigrationKeyInvalid);
  expect(() => parseMigrationKey('a-secret-by-mistake')).not.toThrow('a-secret-by-mistake');
});

test('different keys have different fingerprints', () => {
  const prints = Array.from({ length: 50 }, () => fingerprintOf(createVaultKey().publicKey));
  expect(new Set(prints).size).toBe(50);
});
