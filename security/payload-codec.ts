/**
 * Encrypts the payloads that Temporal stores: inputs, results, messages, memos, details and failures. Ids and search
 * attributes are not encrypted.
 *
 * Clients and workers encrypt payloads before they send them, and decrypt payloads that they receive. Temporal's
 * operators, database and UI see only the ciphertext of a payload and the id of its payload key. The codec server
 * decrypts payloads for authorized readers.
 */
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { decrypt, encrypt } from './aead';
import { type KeyRing, parseKeyRing } from './key-ring';
import type { Secret } from './secret';

/** The encoding that Temporal's samples use. Temporal's tools show payloads with this encoding as encrypted. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const StoredPayload = temporal.api.common.v1.Payload;

/** Replaces a payload that fails authentication. Its value is an `UnreadablePayload` (payload-converter.ts). */
const ALTERED_PAYLOAD: Payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify({ unreadable: 'the message was altered after it was encrypted' })),
};

/** Thrown when this process does not have the payload key under which a payload was encrypted. */
export class UnknownPayloadKey extends Error {
  override readonly name = 'UnknownPayloadKey';

  constructor(
    readonly keyId: string,
    known: readonly string[],
  ) {
    super(
      `A payload was encrypted under payload key ${keyId}, but this process only has ${known.join(', ')}. ` +
        'Start it with that payload key as well.',
    );
  }
}

/**
 * Parses the payload keys in a text, newest key first.
 *
 * @throws {KeyInvalid}
 */
export function parsePayloadKeys(text: Secret): KeyRing {
  return parseKeyRing(text, 'payload key');
}

/** Creates the data converter of clients and workers, which encrypts and decrypts payloads. */
export function createDataConverter(payloadKeys: KeyRing): DataConverter {
  return {
    payloadConverterPath: require.resolve('./payload-converter'),
    failureConverterPath: require.resolve('./failure-converter'),
    payloadCodecs: [createPayloadCodec(payloadKeys)],
  };
}

/** Returns a converter that does not decrypt payloads. It needs no key, and can read only states, times and counts. */
export function withoutPayloadCodec(converter: DataConverter): DataConverter {
  return { ...converter, payloadCodecs: [] };
}

/**
 * Creates the codec. It encodes with the newest key. How it decodes depends on the payload:
 *
 * - A payload that was encrypted under a known key is decrypted.
 * - A payload that is not encrypted is returned unchanged, because a person typed it into Temporal's UI or CLI.
 * - A payload that was altered after its encryption is replaced by an unreadable value, because a single message must
 *   not stop a migration.
 * - A payload that was encrypted under an unknown key throws {@link UnknownPayloadKey}. The migration waits until the
 *   key has been added. A substitute value would make its workflow non-deterministic when it is replayed with the key.
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
