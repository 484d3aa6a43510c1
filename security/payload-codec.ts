/**
 * Encrypts everything that Temporal stores: inputs, results, messages, memos, details and failures.
 *
 * Clients and workers encrypt before they send, and decrypt what they receive. Temporal's operators, its database and
 * its UI see ciphertext and the id of the payload key. The codec server decrypts payloads for authorized readers.
 */
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { decrypt, encrypt } from './aead';
import { type KeyRing, parseKeyRing } from './key-ring';
import type { Secret } from './secret';

/** The name that Temporal's own samples use: Temporal's tools show such payloads as encrypted. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const StoredPayload = temporal.api.common.v1.Payload;

/** Replaces a payload that fails authentication. It has the form of `UnreadablePayload` in payload-converter.ts. */
const ALTERED_PAYLOAD: Payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify({ unreadable: 'the message was altered after it was encrypted' })),
};

/** Thrown when this process does not have the payload key of a payload. Adding that payload key fixes it. */
export class UnknownPayloadKey extends Error {
  override readonly name = 'UnknownPayloadKey';

  constructor(
    readonly keyId: string,
    known: readonly string[],
  ) {
    super(
      `This was encrypted under payload key ${keyId}, but this process only has ${known.join(', ')}. ` +
        'Start it with that payload key as well.',
    );
  }
}

/** @throws {KeyInvalid} */
export function parsePayloadKeys(text: Secret): KeyRing {
  return parseKeyRing(text, 'payload key');
}

/** Creates the data converter that every client and worker uses to write and read payloads. */
export function createDataConverter(payloadKeys: KeyRing): DataConverter {
  return {
    payloadConverterPath: require.resolve('./payload-converter'),
    failureConverterPath: require.resolve('./failure-converter'),
    payloadCodecs: [createPayloadCodec(payloadKeys)],
  };
}

/** Returns a converter that decrypts nothing, so no key can be missing: for reading states, times and counts only. */
export function withoutPayloadCodec(converter: DataConverter): DataConverter {
  return { ...converter, payloadCodecs: [] };
}

/**
 * Creates the codec. Encoding uses the newest key. Decoding distinguishes four cases:
 *
 * - Encrypted under a known key: decrypted.
 * - Not encrypted: returned unchanged, because someone typed it into Temporal's UI or CLI.
 * - Altered after encryption: replaced by a value that says so, because a message must never stop a migration.
 * - Encrypted under an unknown key: throws {@link UnknownPayloadKey}. The migration waits until the key is added. A
 *   substitute value would make its workflow non-deterministic when it is replayed with the key.
 */
export function createPayloadCodec({ newest, byId }: KeyRing): PayloadCodec {
  function encode(payload: Payload): Payload {
    return {
      metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(newest.id) },
      data: encrypt(newest.key, StoredPayload.encode(payload).finish(), newest.id),
    };
  }

  function decode(payload: Payload): Payload {
    if (textOf(payload.metadata?.['encoding']) !== ENCRYPTED) return payload;
    const keyId = textOf(payload.metadata?.[KEY_ID]);
    const known = byId.get(keyId);
    if (!known) throw new UnknownPayloadKey(keyId, [...byId.keys()]);
    try {
      return StoredPayload.decode(decrypt(known.key, payload.data ?? new Uint8Array(), keyId));
    } catch {
      return ALTERED_PAYLOAD;
    }
  }

  return {
    encode: async (payloads) => payloads.map(encode),
    decode: async (payloads) => payloads.map(decode),
  };
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
