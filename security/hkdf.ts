import { createHmac } from 'node:crypto';
import { HkdfSha256 } from '@hpke/core';
import { toArrayBuffer } from './array-buffer';

type Bytes = Parameters<HkdfSha256['extract']>[0];

const HASH_BYTES = 32;

/**
 * HKDF-SHA256 (RFC 5869) for the key schedule of HPKE, by Node's own HMAC where the library's goes through Web Crypto: six
 * tasks for other threads, each with a key import, take as long as all else that opening a box needs.
 */
export class NodeHkdfSha256 extends HkdfSha256 {
  override async extract(salt: Bytes, ikm: Bytes): Promise<ArrayBuffer> {
    // No salt is one of zeros, and HMAC fills its key up with zeros itself.
    return toArrayBuffer(hmac(bytesOf(salt), bytesOf(ikm)));
  }

  override async expand(prk: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    if (length > 255 * HASH_BYTES) throw new RangeError(`HKDF gives no ${length} bytes`);
    const expanded = Buffer.alloc(length);
    let block: Buffer = Buffer.alloc(0);
    for (let count = 1, at = 0; at < length; count += 1) {
      block = hmac(bytesOf(prk), block, bytesOf(info), Buffer.of(count));
      at += block.copy(expanded, at);
    }
    return toArrayBuffer(expanded);
  }
}

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function bytesOf(bytes: Bytes): Buffer {
  return ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes);
}
