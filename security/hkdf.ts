import { createHmac } from 'node:crypto';
import { HkdfSha256 } from '@hpke/core';

type Bytes = Parameters<HkdfSha256['extract']>[0];

const HASH_BYTES = 32;

/**
 * HKDF-SHA256 (RFC 5869) for HPKE's key schedule, computed with Node's synchronous HMAC.
 *
 * The library's own version calls Web Crypto six times per message. Each call imports a key and runs on another thread.
 * These calls take as long as all the other work involved in opening a sealed credential.
 */
export class NodeHkdfSha256 extends HkdfSha256 {
  override async extract(salt: Bytes, ikm: Bytes): Promise<ArrayBuffer> {
    // RFC 5869 replaces a missing salt with zeros. HMAC pads its key with zeros, so an empty key gives the same result.
    return toArrayBuffer(hmac(bytesOf(salt), bytesOf(ikm)));
  }

  override async expand(prk: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    if (length > 255 * HASH_BYTES) throw new RangeError(`HKDF cannot output ${length} bytes`);
    const expanded = Buffer.alloc(length);
    let block: Buffer = Buffer.alloc(0);
    for (let count = 1, at = 0; at < length; count += 1) {
      block = hmac(bytesOf(prk), block, bytesOf(info), Buffer.of(count));
      at += block.copy(expanded, at);
    }
    return toArrayBuffer(expanded);
  }
}

/** Copies the bytes into a new ArrayBuffer. The ArrayBuffer of a small Buffer also contains other Buffers. */
export const toArrayBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function bytesOf(bytes: Bytes): Buffer {
  return ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes);
}
