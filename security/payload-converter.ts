/**
 * How values become payloads and come back. As the SDK does it, but what cannot be read becomes a value that says so: a
 * message that somebody garbled would otherwise fail every task of its migration, for ever.
 */
import type { Payload, PayloadConverter } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common/lib/converter/payload-converter';

/** In place of what could not be read. It is no decision, and is refused like everything that is none. */
export interface UnreadablePayload {
  readonly unreadable: string;
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      // The reason would quote the content, which may hold anything. The SDK's signature promises whatever is asked for.
      const unreadable: UnreadablePayload = { unreadable: 'the message cannot be decoded' };
      return unreadable as T;
    }
  },
};
