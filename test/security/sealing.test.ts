import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  createVaultKeyWrapper,
  createVaultSecretFolder,
  createOpener,
  createSealer,
  createVaultKey,
  isBoundToRow,
  parseMasterKeys,
  SealBroken,
  Secret,
  UnknownMasterKey,
  VaultSecretMissing,
  type VaultKey,
  WrappedKeyBroken,
} from '../../security';
import { createSender } from '../../security/hpke';
import { createTemporaryFolder } from '../../stack/folders';

describe('sealing a credential', () => {
  const CREDENTIAL = Buffer.from('{"accessToken":"marker-77aa","refreshToken":"r"}');
  const ROW_7 = Buffer.from('acme.quickbooks/7');
  const ROW_8 = Buffer.from('acme.quickbooks/8');

  let key: VaultKey;
  let sealed: Buffer;

  const seal = (publicKey: Buffer, plaintext: Uint8Array, boundTo: Uint8Array) =>
    createSealer(publicKey, 'acme.xero')(plaintext, boundTo);
  const open = (by: VaultKey, box: Uint8Array, boundTo: Uint8Array) => createOpener(by, 'acme.xero')(box, boundTo);

  beforeAll(() => {
    key = createVaultKey();
    sealed = seal(key.publicKey, CREDENTIAL, ROW_7);
  });

  test('uses the private key to open a credential that was sealed with the public key', () => {
    expect(open(key, sealed, ROW_7)).toEqual(CREDENTIAL);
  });

  test('seals the same credential differently each time, and leaves nothing readable', () => {
    expect(sealed.includes('marker')).toBe(false);
    expect(seal(key.publicKey, CREDENTIAL, ROW_7)).not.toEqual(sealed);
  });

  test('seals and opens an empty credential and a credential of 1 MB', () => {
    for (const plaintext of [Buffer.alloc(0), Buffer.alloc(1024 * 1024, 7)]) {
      expect(open(key, seal(key.publicKey, plaintext, ROW_7), ROW_7)).toEqual(plaintext);
    }
  });

  test('opens each box of many groups without the other boxes, in any order', () => {
    const groups = Array.from({ length: 150 }, () => createSealer(key.publicKey, 'acme.xero'));
    const boxes = [0, 1, 2].flatMap((turn) =>
      groups.map((sealInGroup, group) => {
        const credential = Buffer.from(`${turn} of ${group}`);
        return { credential, box: sealInGroup(credential, credential) };
      }),
    );
    const openOne = createOpener(key, 'acme.xero');
    for (const { credential, box } of boxes.reverse()) {
      expect(openOne(box, credential)).toEqual(credential);
      expect(open(key, box, credential)).toEqual(credential);
    }
  });

  test('does not open a box with the sequence number of another box of its group', () => {
    const sealInGroup = createSealer(key.publicKey, 'acme.xero');
    const [first, second] = [sealInGroup(CREDENTIAL, ROW_7), sealInGroup(CREDENTIAL, ROW_7)];
    const swapped = Buffer.concat([second.subarray(0, 66), first.subarray(66, 70), second.subarray(70)]);
    expect(() => open(key, swapped, ROW_7)).toThrow(SealBroken);
  });

  test('opens the boxes of versions 1 and 2, which are not bound to their version', () => {
    const sender = createSender(key.publicKey, Buffer.from('tokenferry vault 1'));
    const { encapsulated } = sender;
    const [first, second] = [
      sender.encrypt(CREDENTIAL, ROW_7).ciphertext,
      sender.encrypt(CREDENTIAL, ROW_7).ciphertext,
    ];
    const ofVersion1 = (ciphertext: Buffer) => Buffer.concat([Buffer.of(1), encapsulated, ciphertext]);
    expect(open(key, ofVersion1(first), ROW_7)).toEqual(CREDENTIAL);
    expect(() => open(key, ofVersion1(second), ROW_7)).toThrow(SealBroken);
    const ofVersion2 = Buffer.concat([Buffer.of(2), encapsulated, Buffer.of(0, 0, 0, 1), second]);
    expect(open(key, ofVersion2, ROW_7)).toEqual(CREDENTIAL);
    expect(isBoundToRow(ofVersion2)).toBe(true);
    expect(isBoundToRow(sealed)).toBe(false);
  });

  test('does not open a box that was copied to another row', () => {
    expect(() => open(key, sealed, ROW_8)).toThrow(SealBroken);
  });

  test('does not open a box with the private key of another migration', () => {
    const other = createVaultKey();
    expect(() => open(other, sealed, ROW_7)).toThrow(SealBroken);
  });

  test('does not open a box with a changed byte, even after its group is known', () => {
    const openOne = createOpener(key, 'acme.xero');
    openOne(sealed, ROW_7);
    for (let index = 0; index < sealed.length; index += 1) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(() => open(key, altered, ROW_7)).toThrow(SealBroken);
      expect(() => openOne(altered, ROW_7)).toThrow(SealBroken);
    }
  });

  test('does not open a truncated box', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => open(key, sealed.subarray(0, length), ROW_7)).toThrow(SealBroken);
    }
  });
});

describe('wrapping a key with a master key', () => {
  const DATA_KEY = new Secret(randomBytes(32));
  const [OLD, NEW] = [newKey(), newKey()];
  const M = 'acme.xero';
  let folder: string;
  beforeAll(() => {
    folder = createTemporaryFolder();
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const providerWith = (...keys: string[]) =>
    createVaultKeyWrapper(parseMasterKeys(new Secret(keys.join('\n'))), createVaultSecretFolder(folder));

  function newKey(): string {
    return randomBytes(32).toString('base64');
  }

  test('unwraps a data key in another process with the same master key', async () => {
    const key = await providerWith(OLD).wrap(M, DATA_KEY);
    expect(key.wrapped.includes(DATA_KEY.reveal())).toBe(false);
    expect((await providerWith(OLD).unwrap(M, key)).reveal()).toEqual(DATA_KEY.reveal());
  });

  test('wraps with the first master key and still unwraps with older master keys', async () => {
    const before = await providerWith(OLD).wrap(M, DATA_KEY);
    const both = providerWith(NEW, OLD);
    const after = await both.wrap(M, DATA_KEY);
    expect(after.keyId).not.toBe(before.keyId);
    for (const key of [before, after]) {
      expect((await both.unwrap(M, key)).reveal()).toEqual(DATA_KEY.reveal());
    }
  });

  test('names a missing master key and the available keys', async () => {
    const old = await providerWith(OLD).wrap(M, DATA_KEY);
    const available = await providerWith(NEW).wrap(M, DATA_KEY);
    const unwrapping = providerWith(NEW).unwrap(M, old);
    await expect(unwrapping).rejects.toThrow(UnknownMasterKey);
    await expect(unwrapping).rejects.toThrow(new RegExp(`vault of acme.xero .*${old.keyId}.*${available.keyId}`));
  });

  test('does not unwrap a key that is stored with the id of another master key', async () => {
    const both = providerWith(NEW, OLD);
    const key = await providerWith(OLD).wrap(M, DATA_KEY);
    const { keyId } = await providerWith(NEW).wrap(M, DATA_KEY);
    await expect(both.unwrap(M, { ...key, keyId })).rejects.toThrow(WrappedKeyBroken);
  });

  test('rejects a wrapped key with a changed byte, a shorter length, or the id of another migration', async () => {
    const provider = providerWith(OLD);
    const key = await provider.wrap(M, DATA_KEY);
    for (let index = 0; index < key.wrapped.length; index += 1) {
      const altered = Buffer.from(key.wrapped);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      await expect(provider.unwrap(M, { ...key, wrapped: altered })).rejects.toThrow(WrappedKeyBroken);
      const shorter = { ...key, wrapped: key.wrapped.subarray(0, index) };
      await expect(provider.unwrap(M, shorter)).rejects.toThrow(WrappedKeyBroken);
    }
    const { secretId } = await provider.wrap('acme.sage', DATA_KEY);
    await expect(provider.unwrap('acme.sage', { ...key, secretId })).rejects.toThrow(WrappedKeyBroken);
  });

  test('does not unwrap a key whose secret was erased, even with its master key', async () => {
    const provider = providerWith(OLD);
    const [erased, kept] = [await provider.wrap(M, DATA_KEY), await provider.wrap(M, DATA_KEY)];
    await provider.erase(M, kept.secretId, kept.secretId);
    await expect(provider.unwrap(M, erased)).rejects.toThrow(VaultSecretMissing);
    expect((await provider.unwrap(M, kept)).reveal()).toEqual(DATA_KEY.reveal());
  });
});
