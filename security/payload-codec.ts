import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { decrypt, encrypt } from './aead';
import { type KeyRing, parseKeyRing } from './key-ring';
import type { Secret } from './secret';

/** As Temporal's own samples name it: its tools show such payloads as encrypted. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const StoredPayload = temporal.api.common.v1.Payload;

/** In place of what does not open: `UnreadablePayload` of the workflows. */
const ALTERED: Payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify({ unreadable: 'the message was altered after it was encrypted' })),
};

/** Thrown when something was encrypted under a key that this process was not given. Nothing is lost: give it the key. */
export class UnknownPayloadKey extends Error {
  override readonly name = 'UnknownPayloadKey';

  constructor(
    readonly keyId: string,
    known: readonly string[],
  ) {
    super(
      `This was encrypted under payload key ${keyId}, and this process has only ${known.join(', ')}. ` +
        'Start it with that payload key as well.',
    );
  }
}

/** @throws {KeyInvalid} */
export function parsePayloadKeys(text: Secret): KeyRing {
  return parseKeyRing(text, 'payload key');
}

/**
 * Encrypts what Temporal keeps: inputs, results, messages, memos, details, failures.
 *
 * What was not encrypted here passes through as it is: somebody has typed it into Temporal's own tools. What was altered
 * becomes a value that says so, because no message may stop a migration. A key that is missing does stop it: with the
 * key it goes on, and decoding it differently until then would break its replay.
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
      return ALTERED;
    }
  }

  return {
    encode: async (payloads) => payloads.map(encode),
    decode: async (payloads) => payloads.map(decode),
  };
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
