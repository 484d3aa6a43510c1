/**
 * Streams in chunks. A manifest can have any number of rows, so rows are read, sealed and stored chunk by chunk, and at
 * most one chunk is in memory.
 */

/** Items that can be iterated once, in memory or still to be read. */
export type Stream<T> = Iterable<T> | AsyncIterable<T>;

/**
 * Yields the items in chunks.
 *
 * @param size items per chunk; the last chunk can be smaller
 */
export async function* inChunks<T>(items: Stream<T>, size: number): AsyncGenerator<readonly T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
