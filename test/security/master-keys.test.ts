import { randomBytes } from 'node:crypto';
import {
  createMasterKeyProvider,
  MasterKeyInvalid,
  parseMasterKeys,
  Secret,
  UnknownMasterKey,
  WrappedKeyBroken,
} from '../../security';

const DATA_KEY = new Secret(randomBytes(32));
const [OLD, NEW] = [new Secret(randomBytes(32)), new Secret(randomBytes(32))];

test('a data key comes back as it was, under the same master key in another process', async () => {
  const { keyId, wrapped } = await createMasterKeyProvider([OLD]).wrap(DATA_KEY);
  expect(wrapped.includes(DATA_KEY.reveal())).toBe(false);
  expect((await createMasterKeyProvider([OLD]).unwrap(keyId, wrapped)).reveal()).toEqual(DATA_KEY.reveal());
});

test('the first master key wraps, an older one still opens what it wrapped', async () => {
  const before = await createMasterKeyProvider([OLD]).wrap(DATA_KEY);
  const both = createMasterKeyProvider([NEW, OLD]);
  const after = await both.wrap(DATA_KEY);
  expect(after.keyId).not.toBe(before.keyId);
  for (const { keyId, wrapped } of [before, after]) {
    expect((await both.unwrap(keyId, wrapped)).reveal()).toEqual(DATA_KEY.reveal());
  }
});

test('a master key that is missing is named, with those that are there', async () => {
  const old = await createMasterKeyProvider([OLD]).wrap(DATA_KEY);
  const present = await createMasterKeyProvider([NEW]).wrap(DATA_KEY);
  const unwrapping = createMasterKeyProvider([NEW]).unwrap(old.keyId, old.wrapped);
  await expect(unwrapping).rejects.toThrow(UnknownMasterKey);
  await expect(unwrapping).rejects.toThrow(new RegExp(`${old.keyId}.*${present.keyId}`));
});

test('a key that is stored under the id of another master key does not open', async () => {
  const both = createMasterKeyProvider([NEW, OLD]);
  const { wrapped } = await createMasterKeyProvider([OLD]).wrap(DATA_KEY);
  const { keyId } = await createMasterKeyProvider([NEW]).wrap(DATA_KEY);
  await expect(both.unwrap(keyId, wrapped)).rejects.toThrow(WrappedKeyBroken);
});

test('a change of any byte, and a cut at any length, is noticed', async () => {
  const provider = createMasterKeyProvider([OLD]);
  const { keyId, wrapped } = await provider.wrap(DATA_KEY);
  for (let index = 0; index < wrapped.length; index += 1) {
    const altered = Buffer.from(wrapped);
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
    await expect(provider.unwrap(keyId, altered)).rejects.toThrow(WrappedKeyBroken);
    await expect(provider.unwrap(keyId, wrapped.subarray(0, index))).rejects.toThrow(WrappedKeyBroken);
  }
});

describe('master keys as text', () => {
  const text = (key: Secret<Buffer>) => key.reveal().toString('base64');

  test.each([
    ['one', `${text(NEW)}\n`, [NEW]],
    ['several lines, also from Windows', `${text(NEW)}\r\n${text(OLD)}\r\n`, [NEW, OLD]],
    ['commas', `${text(NEW)},${text(OLD)}`, [NEW, OLD]],
  ])('are read: %s', (_form, content, expected) => {
    expect(parseMasterKeys(new Secret(content)).map((key) => key.reveal())).toEqual(
      expected.map((key) => key.reveal()),
    );
  });

  test.each([
    ['nothing', ' \n'],
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['no base64', `${text(OLD).slice(0, -4)}-!!!`],
    ['a second one that is wrong', `${text(OLD)}\nmarker-short`],
  ])('are refused, with what to do and without the text: %s', (_form, content) => {
    const parse = () => parseMasterKeys(new Secret(content));
    expect(parse).toThrow(MasterKeyInvalid);
    expect(parse).toThrow(/openssl rand -base64 32/);
    expect(parse).not.toThrow(/marker/);
  });
});
