import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import { createVaultKey, createOpener, seal } from '../../security';
import { NodeHkdfSha256 } from '../../security/hkdf';

const bytes = (hex: string): ArrayBuffer => Uint8Array.from(Buffer.from(hex, 'hex')).buffer;

test.each([
  [
    ...['0b'.repeat(22), '000102030405060708090a0b0c', 'f0f1f2f3f4f5f6f7f8f9', 42],
    '077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5',
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  ],
  [
    ...['0b'.repeat(22), '', '', 42],
    '19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04',
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
  ],
] as const)('matches test cases 1 and 3 of RFC 5869: %s', async (ikm, salt, info, length, prk, okm) => {
  const kdf = new NodeHkdfSha256();
  const extracted = await kdf.extract(bytes(salt), bytes(ikm));
  expect(Buffer.from(extracted).toString('hex')).toBe(prk);
  expect(Buffer.from(await kdf.expand(extracted, bytes(info), length)).toString('hex')).toBe(okm);
});

test('rejects an output length above the limit of HKDF', async () => {
  await expect(new NodeHkdfSha256().expand(new ArrayBuffer(32), new ArrayBuffer(0), 8_161)).rejects.toThrow('8161');
});

test("seals a box that the library's own HKDF opens", async () => {
  const { publicKey, privateKey } = await createVaultKey();
  const [credential, row] = [Buffer.from('a credential'), Buffer.from('acme/7')];
  const sealed = await seal(publicKey, credential, row);
  const kem = new DhkemP256HkdfSha256();
  const suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  const recipientKey = await kem.deserializePrivateKey(Uint8Array.from(privateKey.reveal()).buffer);
  const [enc, text] = [Uint8Array.from(sealed.subarray(1, 66)), Uint8Array.from(sealed.subarray(66))];
  const info = Uint8Array.from(Buffer.from('tokenferry vault 1'));
  const opened = await suite.open({ recipientKey, enc, info }, text, Uint8Array.from(row));
  expect(Buffer.from(opened)).toEqual(credential);
  expect(await (await createOpener({ publicKey, privateKey }))(sealed, row)).toEqual(credential);
});
