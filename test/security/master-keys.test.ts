import { randomBytes } from 'node:crypto';
import { createMasterKeyProvider, parseMasterKeys, Secret, UnknownMasterKey, WrappedKeyBroken } from '../../security';

const DATA_KEY = new Secret(randomBytes(32));
const [OLD, NEW] = [newKey(), newKey()];
const providerWith = (...keys: string[]) => createMasterKeyProvider(parseMasterKeys(new Secret(keys.join('\n'))));

function newKey(): string {
  return randomBytes(32).toString('base64');
}

test('unwraps a data key in another process with the same master key', async () => {
  const { keyId, wrapped } = await providerWith(OLD).wrap(DATA_KEY);
  expect(wrapped.includes(DATA_KEY.reveal())).toBe(false);
  expect((await providerWith(OLD).unwrap(keyId, wrapped)).reveal()).toEqual(DATA_KEY.reveal());
});

test('wraps with the first master key and still unwraps with older master keys', async () => {
  const before = await providerWith(OLD).wrap(DATA_KEY);
  const both = providerWith(NEW, OLD);
  const after = await both.wrap(DATA_KEY);
  expect(after.keyId).not.toBe(before.keyId);
  for (const { keyId, wrapped } of [before, after]) {
    expect((await both.unwrap(keyId, wrapped)).reveal()).toEqual(DATA_KEY.reveal());
  }
});

test('names a missing master key and the available ones', async () => {
  const old = await providerWith(OLD).wrap(DATA_KEY);
  const available = await providerWith(NEW).wrap(DATA_KEY);
  const unwrapping = providerWith(NEW).unwrap(old.keyId, old.wrapped);
  await expect(unwrapping).rejects.toThrow(UnknownMasterKey);
  await expect(unwrapping).rejects.toThrow(new RegExp(`${old.keyId}.*${available.keyId}`));
});

test('does not unwrap a key that is stored with the id of another master key', async () => {
  const both = providerWith(NEW, OLD);
  const { wrapped } = await providerWith(OLD).wrap(DATA_KEY);
  const { keyId } = await providerWith(NEW).wrap(DATA_KEY);
  await expect(both.unwrap(keyId, wrapped)).rejects.toThrow(WrappedKeyBroken);
});

test('rejects a wrapped key with a changed byte or a shorter length', async () => {
  const provider = providerWith(OLD);
  const { keyId, wrapped } = await provider.wrap(DATA_KEY);
  for (let index = 0; index < wrapped.length; index += 1) {
    const altered = Buffer.from(wrapped);
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
    await expect(provider.unwrap(keyId, altered)).rejects.toThrow(WrappedKeyBroken);
    await expect(provider.unwrap(keyId, wrapped.subarray(0, index))).rejects.toThrow(WrappedKeyBroken);
  }
});
