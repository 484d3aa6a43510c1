/**
 * Converts values to payloads and back like the SDK's default converter, with one exception: a payload that cannot be
 * decoded becomes an `UnreadablePayload`. An error would make every workflow task of the migration fail.
 *
 * Also defines the names of the metadata of encrypted payloads. They are not defined in the codec, because the workflow
 * sandbox also loads this file, and cannot load the codec.
 */
import type { Payload, PayloadConverter } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common/lib/converter/payload-converter';
import { decode } from '@temporalio/common/lib/encoding';
import { UnreadablePayload } from '../domain/migration/decision';

/** The encoding that Temporal's samples use. Temporal's tools show payloads with this encoding as encrypted. */
export const ENCRYPTED = 'binary/encrypted';
/** The encoding of the empty payload with which the codec replaces a payload that it could not authenticate. */
export const ALTERED = 'tokenferry/altered';
export const KEY_ID = 'encryption-key-id';
/**
 * Metadata with the namespace and the workflow that a payload is bound to. Both are authenticated together with the key
 * id.
 */
export const BOUND_NAMESPACE = 'bound-to-namespace';
export const BOUND_WORKFLOW = 'bound-to-workflow';

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      // The error's message is dropped, because it would quote the content. The cast satisfies the SDK's signature.
      return unreadable(payload) as T;
    }
  },
};

/**
 * Describes why a payload cannot be decoded. A payload is still encrypted if this worker does not have its payload key.
 */
function unreadable({ metadata }: Payload): UnreadablePayload {
  const encoding = textOf(metadata?.['encoding']);
  if (encoding === ALTERED)
    return new UnreadablePayload('the message was altered after it was encrypted, or copied from another migration');
  if (encoding !== ENCRYPTED) return new UnreadablePayload('the message cannot be decoded');
  const keyId = textOf(metadata?.[KEY_ID]);
  if (!isKeyId(keyId))
    return new UnreadablePayload('the message names no valid payload key, so no worker can decrypt it', '');
  return new UnreadablePayload(
    `the message was encrypted under payload key ${keyId}, which the worker does not have; ` +
      'start every worker with that key as well, then send the message again',
    keyId,
  );
}

/**
 * Returns whether a text has the form of a key id. Messages quote no other text as a key id, because the sender of a
 * payload chooses the text.
 */
export function isKeyId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}

const textOf = (bytes: Uint8Array | null | undefined): string => (bytes ? decode(bytes) : '');
