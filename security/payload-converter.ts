/**
 * Converts values to payloads and back like the SDK's default converter, except that a payload that cannot be decoded
 * becomes an `UnreadablePayload` instead of an error. An error would fail every workflow task of the migration forever.
 */
import type { Payload, PayloadConverter } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common/lib/converter/payload-converter';

/** Stands for a payload that could not be decoded. It does not parse as a decision, so it is refused like any other malformed message. */
export interface UnreadablePayload {
  readonly unreadable: string;
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      // The error's message is dropped because it would quote the content. The SDK's signature requires some T.
      const unreadable: UnreadablePayload = { unreadable: 'the message cannot be decoded' };
      return unreadable as T;
    }
  },
};
