import { closeSync, openSync, readSync } from 'node:fs';
import { KeyInvalid } from '../security';

/** The maximum size of a file. Without a maximum, reading a device such as `/dev/zero` would never end. */
const MAX_BYTES = 64 * 1024;

/**
 * Reads a small file, which can be a pipe.
 *
 * @throws if the file cannot be opened, is a folder or is larger than `MAX_BYTES`
 */
export function readSmallFile(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= MAX_BYTES; length += read)
      read = readSync(opened, buffer, length, buffer.length - length, null);
    if (length > MAX_BYTES) throw new KeyInvalid(`the file is larger than ${MAX_BYTES / 1024} KB`);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(opened);
  }
}
