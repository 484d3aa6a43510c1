import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from './key-ring';
import { createPayloadCodec } from './payload-codec';

/** How whoever talks with Temporal, client and worker alike, writes and reads what it keeps. */
export function dataConverterOf(payloadKeys: KeyRing): DataConverter {
  return {
    payloadConverterPath: require.resolve('./payload-converter'),
    failureConverterPath: require.resolve('./failure-converter'),
    payloadCodecs: [createPayloadCodec(payloadKeys)],
  };
}

/** The same for who reads states, dates and counts alone: no payload is opened, so that no key can be missing. */
export function withoutPayloads(converter: DataConverter): DataConverter {
  return { ...converter, payloadCodecs: [] };
}
