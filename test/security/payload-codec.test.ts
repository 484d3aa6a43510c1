import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  createPayloadCodec,
  createWorkerDataConverter,
  parsePayloadKeys,
  Secret,
  UnknownPayloadKey,
} from '../../security';
import { payloadConverter } from '../../security/payload-converter';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const codecWith = (...keys: string[]) => createPayloadCodec(parsePayloadKeys(new Secret(keys.join(','))));

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown => payload && payloadConverter.fromPayload(payload);

async function encrypted(value: unknown, ...keys: string[]): Promise<Payload> {
  const [payload] = await codecWith(...keys).encode([payloadOf(value)]);
  if (!payload) throw new Error('the codec returned no payload');
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
  ['text', 'marker'],
  ['undefined', undefined],
  ['null', null],
  ['bytes', Uint8Array.from(Buffer.from('marker'))],
])('encrypts %s so that nothing is readable, and decrypts it unchanged', async (_, value) => {
  const payload = await encrypted(value, NEW);
  expect(everyByteOf(payload).includes('marker')).toBe(false);
  expect(everyByteOf(payload).includes('json')).toBe(false);
  expect(await decrypted(payload, NEW)).toEqual(value);
});

test('encrypts the same value differently each time', async () => {
  const [one, other] = [await encrypted('same', NEW), await encrypted('same', NEW)];
  expect(Buffer.from(one.data ?? []).equals(Buffer.from(other.data ?? []))).toBe(false);
});

test('encrypts with the newest key and still decrypts with older keys', async () => {
  const before = await encrypted('before', OLD);
  const after = await encrypted('after', NEW, OLD);
  expect(await decrypted(before, NEW, OLD)).toBe('before');
  expect(await decrypted(after, NEW)).toBe('after');
});

test('throws an error that names the missing key', async () => {
  const payload = await encrypted('any', OLD);
  await expect(decrypted(payload, NEW)).rejects.toThrow(UnknownPayloadKey);
  await expect(decrypted(payload, NEW)).rejects.toThrow(parsePayloadKeys(new Secret(OLD)).newest.id);
  expect(await decrypted(payload, OLD)).toBe('any');
});

test('returns unencrypted payloads unchanged', async () => {
  expect(await decrypted(payloadOf({ typed: 'in the UI' }), NEW)).toEqual({ typed: 'in the UI' });
  expect(await codecWith(NEW).decode([{}])).toEqual([{}]);
});

test('decodes a payload with a changed byte or a shorter length as unreadable', async () => {
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

test('decodes a payload with the id of another key as unreadable', async () => {
  const [one, other] = [await encrypted('any', OLD), await encrypted('any', NEW)];
  expect(
    await decrypted({ metadata: other.metadata ?? {}, data: one.data ?? new Uint8Array() }, NEW, OLD),
  ).toHaveProperty('unreadable');
});

describe('a payload of a workflow', () => {
  const codec = codecWith(NEW);
  const of = (workflowId: string, namespace = 'default') => ({ type: 'workflow' as const, namespace, workflowId });
  const readIn = async (payload: Payload, workflowId: string, namespace?: string) =>
    valueOf((await codec.decode([payload], of(workflowId, namespace)))[0]);
  let payload: Payload;
  beforeAll(async () => {
    [payload = {}] = await codec.encode([payloadOf('pause')], of('acme.xero'));
  });

  test('is readable only in that workflow and namespace, and where the workflow is not known', async () => {
    expect(await readIn(payload, 'acme.xero')).toBe('pause');
    expect(await decrypted(payload, NEW)).toBe('pause');
    expect(await readIn(payload, 'bolt.xero')).toHaveProperty('unreadable');
    expect(await readIn(payload, 'acme.xero', 'other')).toHaveProperty('unreadable');
    const stripped = {
      encoding: payload.metadata?.['encoding'],
      'encryption-key-id': payload.metadata?.['encryption-key-id'],
    };
    expect(await readIn({ ...payload, metadata: stripped as never }, 'bolt.xero')).toHaveProperty('unreadable');
    const moved = { ...payload.metadata, 'bound-to-workflow': Buffer.from('bolt.xero') };
    expect(await readIn({ ...payload, metadata: moved }, 'bolt.xero')).toHaveProperty('unreadable');
  });

  test('is readable in the workflow that a Schedule starts with the time after the id, and in no other', async () => {
    expect(await readIn(payload, 'acme.xero-2026-12-05T22:00:00Z')).toBe('pause');
    expect(await readIn(payload, 'acme.xero-2')).toHaveProperty('unreadable');
    expect(await readIn(payload, 'acme.xero.batch')).toHaveProperty('unreadable');
  });

  test('under an unknown key is unreadable in a worker, but decoding the result of an activity throws', async () => {
    const [worker] = createWorkerDataConverter(parsePayloadKeys(new Secret(OLD))).payloadCodecs ?? [];
    const keyId = parsePayloadKeys(new Secret(NEW)).newest.id;
    const [kept] = (await worker?.decode([payload], of('acme.xero'))) ?? [];
    expect(valueOf(kept)).toMatchObject({ missingKey: keyId, unreadable: expect.stringContaining(keyId) as unknown });
    const activity = { type: 'activity' as const, namespace: 'default', workflowId: 'acme.xero', isLocal: false };
    await expect(worker?.decode([payload], activity)).rejects.toThrow(UnknownPayloadKey);
    await expect(worker?.decode([payload])).rejects.toThrow(UnknownPayloadKey);
    await expect(codecWith(OLD).decode([payload], of('acme.xero'))).rejects.toThrow(UnknownPayloadKey);
  });
});
