/** Items to be gone through once, at hand or still to be read. */
export type Stream<T> = Iterable<T> | AsyncIterable<T>;

/** The items in groups of this size, the last as many as are left. No more than one group is held. */
export async function* inGroups<T>(items: Stream<T>, size: number): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
