import { createVaultKey, createOpener, seal, SealBroken, type VaultKey } from '../../security';

const CREDENTIAL = Buffer.from('{"accessToken":"marker-77aa","refreshToken":"r"}');
const ROW_7 = Buffer.from('acme.quickbooks/7');
const ROW_8 = Buffer.from('acme.quickbooks/8');

let key: VaultKey;
let sealed: Buffer;

const open = async (by: VaultKey, box: Uint8Array, boundTo: Uint8Array) => (await createOpener(by))(box, boundTo);

beforeAll(async () => {
  key = await createVaultKey();
  sealed = await seal(key.publicKey, CREDENTIAL, ROW_7);
});

test('uses the private key to open a credential that was sealed with the public key', async () => {
  expect(await open(key, sealed, ROW_7)).toEqual(CREDENTIAL);
});

test('seals the same credential differently each time, and leaves nothing readable', async () => {
  expect(sealed.includes('marker')).toBe(false);
  expect(await seal(key.publicKey, CREDENTIAL, ROW_7)).not.toEqual(sealed);
});

test('seals and opens an empty credential and one of 1 MB', async () => {
  for (const plaintext of [Buffer.alloc(0), Buffer.alloc(1024 * 1024, 7)]) {
    expect(await open(key, await seal(key.publicKey, plaintext, ROW_7), ROW_7)).toEqual(plaintext);
  }
});

test('does not open a box that was copied to another row', async () => {
  await expect(open(key, sealed, ROW_8)).rejects.toThrow(SealBroken);
});

test('does not open a box with the private key of another migration', async () => {
  const other = await createVaultKey();
  await expect(open(other, sealed, ROW_7)).rejects.toThrow(SealBroken);
});

test('does not open a box with a changed byte', async () => {
  for (let index = 0; index < sealed.length; index += 1) {
    const altered = Buffer.from(sealed);
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
    await expect(open(key, altered, ROW_7)).rejects.toThrow(SealBroken);
  }
});

test('does not open a truncated box', async () => {
  for (let length = 0; length < sealed.length; length += 1) {
    await expect(open(key, sealed.subarray(0, length), ROW_7)).rejects.toThrow(SealBroken);
  }
});
