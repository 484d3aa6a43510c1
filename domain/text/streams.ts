/**
 * Splits and converts streams. A manifest or a file of credentials can have any number of rows, so manifest rows and
 * sealed credentials are stored in chunks, with at most one chunk in memory.
 */

/** Items that are in memory, or that are read while they are iterated. They might be iterable only once. */
export type Stream<T> = Iterable<T> | AsyncIterable<T>;

/** Yields the results of a function for the items. */
export async function* mapped<T, Result>(items: Stream<T>, each: (item: T) => Result): AsyncGenerator<Result> {
  for await (const item of items) yield each(item);
}

/** Returns the items of a stream that fits in memory. */
export async function collected<T>(items: Stream<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

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
