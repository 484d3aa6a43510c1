import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createPayloadCodec, parsePayloadKeys, Secret, UnknownPayloadKey } from '../../security';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const codecWith = (...keys: string[]) => createPayloadCodec(parsePayloadKeys(new Secret(keys.join(','))));

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown => payload && defaultPayloadConverter.fromPayload(payload);

async function encrypted(value: unknown, ...keys: string[]): Promise<Payload> {
  const [payload] = await codecWith(...keys).encode([payloadOf(value)]);
  if (!payload) throw new Error('one goes in, one comes out');
  return payload;
}

async function decrypted(payload: Payload, ...keys: string[]): Promise<unknown> {
  const [decoded] = await codecWith(...keys).decode([payload]);
  return valueOf(decoded);
}

const everyByteOf = (payload: Payload): Buffer =>
  Buffer.concat(
    [...Object.values(payload.metadata ?? {}), payload.data ?? new Uint8Array()].map((part) => Buffer.from(part)),
  );

test.each([
  ['an object', { name: 'marker', many: ['marker', 1, null] }],
  ['a text', 'marker'],
  ['nothing', undefined],
  ['null', null],
  ['bytes', Uint8Array.from(Buffer.from('marker'))],
])('%s comes back as it was, and nothing of it is readable in between', async (_, value) => {
  const payload = await encrypted(value, NEW);
  expect(everyByteOf(payload).includes('marker')).toBe(false);
  expect(everyByteOf(payload).includes('json')).toBe(false);
  expect(await decrypted(payload, NEW)).toEqual(value);
});

test('the same value is encrypted differently each time', async () => {
  const [one, other] = [await encrypted('same', NEW), await encrypted('same', NEW)];
  expect(Buffer.from(one.data ?? []).equals(Buffer.from(other.data ?? []))).toBe(false);
});

test('a new key is used from now on, and an older one still opens what it closed', async () => {
  const before = await encrypted('before', OLD);
  const after = await encrypted('after', NEW, OLD);
  expect(await decrypted(before, NEW, OLD)).toBe('before');
  expect(await decrypted(after, NEW)).toBe('after');
});

test('a key that is missing fails, and names itself', async () => {
  const payload = await encrypted('any', OLD);
  await expect(decrypted(payload, NEW)).rejects.toThrow(UnknownPayloadKey);
  await expect(decrypted(payload, NEW)).rejects.toThrow(parsePayloadKeys(new Secret(OLD)).newest.id);
  expect(await decrypted(payload, OLD)).toBe('any');
});

test('what was not encrypted passes through', async () => {
  expect(await decrypted(payloadOf({ typed: 'by hand' }), NEW)).toEqual({ typed: 'by hand' });
  expect(await codecWith(NEW).decode([{}])).toEqual([{}]);
});

test('a change of any byte, and a cut at any length, is noticed', async () => {
  const { metadata, data } = await encrypted({ secret: 'marker' }, NEW);
  const bytes = Buffer.from(data ?? []);
  for (let index = 0; index < bytes.length; index += 1) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
    for (const changed of [altered, bytes.subarray(0, index)]) {
      expect(await decrypted({ metadata: metadata ?? {}, data: changed }, NEW)).toHaveProperty('unreadable');
    }
  }
});

test('what was encrypted under one key does not open as if it were under another', async () => {
  const [one, other] = [await encrypted('any', OLD), await encrypted('any', NEW)];
  expect(
    await decrypted({ metadata: other.metadata ?? {}, data: one.data ?? new Uint8Array() }, NEW, OLD),
  ).toHaveProperty('unreadable');
});
