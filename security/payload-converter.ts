/**
 * Converts values to payloads and back like the SDK's default converter, with one exception: a payload that cannot be
 * decoded becomes an `UnreadablePayload`. An error would make every workflow task of the migration fail.
 */
import type { Payload, PayloadConverter } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common/lib/converter/payload-converter';

/**
 * Replaces a payload that cannot be decoded. It cannot be parsed as a decision, so it is refused like any other
 * malformed message.
 */
export interface UnreadablePayload {
  readonly unreadable: string;
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      // The error's message is dropped, because it would quote the content. The cast satisfies the SDK's signature.
      const unreadable: UnreadablePayload = { unreadable: 'the message cannot be decoded' };
      return unreadable as T;
    }
  },
};
