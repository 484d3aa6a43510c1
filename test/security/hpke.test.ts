/** HPKE compared with the test vector of RFC 9180 for our suite, and in both directions with `@hpke/core`. */
import { createHash, ECDH, randomBytes, type webcrypto } from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import fc from 'fast-check';
import { createKeyPair, createRecipients, createSender, publicKeyOf } from '../../security/hpke';

declare global {
  // The types of `@hpke/core` use the browser's globals. Node's Web Crypto has the same types under other names.
  type CryptoKey = webcrypto.CryptoKey;
  type CryptoKeyPair = webcrypto.CryptoKeyPair;
}

const library = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
const hex = (text: string) => Buffer.from(text, 'hex');
const copy = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

const INFO = Buffer.from('an info');
const KEYS = createKeyPair();
const recipientOf = createRecipients(KEYS.privateKey, INFO);

/** Base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, from the test vectors of RFC 9180. */
const VECTOR = {
  info: hex('4f6465206f6e2061204772656369616e2055726e'),
  ikmE: hex('a90d3417c3da9cb6c6ae19b4b5dd6cc9529a4cc24efb7ae0ace1f31887a8cd6c'),
  skRm: hex('317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2'),
  pkRm: hex(
    '04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f853148544876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c',
  ),
  enc: hex(
    '04c06b4f6bebc7bb495cb797ab753f911aff80aefb86fd8b6fcc35525f3ab5f03e0b21bd31a86c6048af3cb2d98e0d3bf01da5cc4c39ff5370d331a4f1f7d5a4e0',
  ),
  ct: hex('58c61a45059d0c5704560e9d88b564a8b63f1364b8d1fcb3c4c6ddc1d291742465e902cd216f8908da49f8f96f'),
  aad: hex('436f756e742d30'),
  pt: hex('4265617574792069732074727574682c20747275746820626561757479'),
};
/**
 * Digest of the ciphertexts of the first 1,000 messages for this vector, with inputs from SHAKE128. Taken from Go's
 * crypto/hpke (testdata/rfc9180.json, encryptions_accumulated).
 */
const ACCUMULATED = '8d3263541fc1695b6e88ff3a1208577c';

describe('the vector of RFC 9180', () => {
  const recipient = createRecipients(VECTOR.skRm, VECTOR.info)(VECTOR.enc);

  test('is decrypted', () => {
    expect(publicKeyOf(VECTOR.skRm)).toEqual(VECTOR.pkRm);
    expect(recipient.decrypt(0, VECTOR.ct, VECTOR.aad)).toEqual(VECTOR.pt);
  });

  test('is decrypted at each of 1,000 sequence numbers, the last number first', async () => {
    const messages = await encryptInputsOfGo();
    const digest = createHash('shake128', { outputLength: 16 });
    for (const { ciphertext } of messages) digest.update(ciphertext);
    expect(digest.digest('hex')).toBe(ACCUMULATED);
    for (const [sequence, { plaintext, aad, ciphertext }] of [...messages.entries()].reverse())
      expect(recipient.decrypt(sequence, ciphertext, aad)).toEqual(plaintext);
  });
});

/** Encrypts the inputs of Go's test with the library, because it lets a test set the sender's ephemeral key. */
async function encryptInputsOfGo() {
  const source = createHash('shake128', { outputLength: 600_000 }).digest();
  let at = 0;
  const draw = () => {
    const length = source.readUInt8(at);
    at += 1 + length;
    return source.subarray(at - length, at);
  };
  const sender = await library.createSenderContext({
    recipientPublicKey: await library.kem.deserializePublicKey(copy(VECTOR.pkRm)),
    info: copy(VECTOR.info),
    ekm: copy(VECTOR.ikmE),
  });
  expect(Buffer.from(sender.enc)).toEqual(VECTOR.enc);
  const messages: { plaintext: Buffer; aad: Buffer; ciphertext: Buffer }[] = [];
  for (let count = 0; count < 1_000; count += 1) {
    const [aad, plaintext] = [draw(), draw()];
    messages.push({ plaintext, aad, ciphertext: Buffer.from(await sender.seal(copy(plaintext), copy(aad))) });
  }
  return messages;
}

describe('compared with @hpke/core', () => {
  const message = fc.record({ plaintext: fc.uint8Array({ maxLength: 2_000 }), aad: fc.uint8Array({ maxLength: 60 }) });
  const messages = fc.array(message, { minLength: 1, maxLength: 4 });

  test('messages that the library encrypts are decrypted, in any order', async () => {
    const recipientPublicKey = await library.kem.deserializePublicKey(copy(KEYS.publicKey));
    await fc.assert(
      fc.asyncProperty(messages, async (all) => {
        const sender = await library.createSenderContext({ recipientPublicKey, info: copy(INFO) });
        const sealed: ArrayBuffer[] = [];
        for (const { plaintext, aad } of all) sealed.push(await sender.seal(copy(plaintext), copy(aad)));
        const recipient = recipientOf(Buffer.from(sender.enc));
        for (const [sequence, { plaintext, aad }] of [...all.entries()].reverse())
          expect(recipient.decrypt(sequence, Buffer.from(sealed[sequence]!), aad)).toEqual(Buffer.from(plaintext));
      }),
      { numRuns: 500 },
    );
  });

  test('the library decrypts messages that we encrypt', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (all) => {
        const keys = createKeyPair();
        const recipientKey = await library.kem.deserializePrivateKey(copy(keys.privateKey));
        const sender = createSender(keys.publicKey, INFO);
        const enc = copy(sender.encapsulated);
        const recipient = await library.createRecipientContext({ recipientKey, enc, info: copy(INFO) });
        for (const [count, { plaintext, aad }] of all.entries()) {
          const { sequence, ciphertext } = sender.encrypt(plaintext, aad);
          expect(sequence).toBe(count);
          expect(Buffer.from(await recipient.open(copy(ciphertext), copy(aad)))).toEqual(Buffer.from(plaintext));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a message', () => {
  const [PLAINTEXT, ROW] = [Buffer.from('a credential'), Buffer.from('acme/7')];
  const sender = createSender(KEYS.publicKey, INFO);
  const { ciphertext } = sender.encrypt(PLAINTEXT, ROW);
  const { encapsulated } = sender;

  test.each<[string, () => Buffer]>([
    ['with another sequence number', () => recipientOf(encapsulated).decrypt(1, ciphertext, ROW)],
    ['with other associated data', () => recipientOf(encapsulated).decrypt(0, ciphertext, Buffer.from('acme/8'))],
    ['with another info', () => createRecipients(KEYS.privateKey, PLAINTEXT)(encapsulated).decrypt(0, ciphertext, ROW)],
    ['of another encapsulation', () => recipientOf(VECTOR.enc).decrypt(0, ciphertext, ROW)],
    ['without its tag', () => recipientOf(encapsulated).decrypt(0, ciphertext.subarray(0, -16), ROW)],
    ['of 15 bytes', () => recipientOf(encapsulated).decrypt(0, ciphertext.subarray(0, 15), ROW)],
  ])('%s is not decrypted', (_which, decrypt) => {
    expect(recipientOf(encapsulated).decrypt(0, ciphertext, ROW)).toEqual(PLAINTEXT);
    expect(decrypt).toThrow();
  });

  test('is encrypted differently under each sequence number and each encapsulation', () => {
    const same = Array.from({ length: 50 }, () => sender.encrypt(PLAINTEXT, ROW).ciphertext);
    const others = Array.from(
      { length: 50 },
      () => createSender(KEYS.publicKey, INFO).encrypt(PLAINTEXT, ROW).ciphertext,
    );
    expect(new Set([ciphertext, ...same, ...others].map((each) => each.toString('hex'))).size).toBe(101);
  });
});

test.each<[string, Buffer]>([
  ['compressed', Buffer.from(ECDH.convertKey(VECTOR.enc, 'prime256v1', undefined, undefined, 'compressed'))],
  ['hybrid', Buffer.from(ECDH.convertKey(VECTOR.enc, 'prime256v1', undefined, undefined, 'hybrid'))],
  ['not on the curve', Buffer.concat([Buffer.of(4), randomBytes(64)])],
  ['the point at infinity', Buffer.alloc(65)],
  ['the point at infinity, uncompressed', Buffer.concat([Buffer.of(4), Buffer.alloc(64)])],
  ['a byte too long', Buffer.concat([VECTOR.enc, Buffer.of(0)])],
  ['missing', Buffer.alloc(0)],
])('a point that is %s is refused as an encapsulated key and as a public key', async (_what, point) => {
  expect(() => recipientOf(point)).toThrow();
  expect(() => createSender(point, INFO)).toThrow();
});

test('private keys have 32 bytes, and belong to their public keys', () => {
  // One key in 256 begins with a zero byte, which Node omits.
  for (let count = 0; count < 3_000; count += 1) {
    const { publicKey, privateKey } = createKeyPair();
    expect(privateKey).toHaveLength(32);
    expect(publicKeyOf(privateKey)).toEqual(publicKey);
  }
});
