/**
 * Reads rows in pages, in the order of a number, because a migration can have any number of rows. Yields only pages
 * with rows.
 *
 * @param key the column with the number, by which the next page begins after the last row of a page
 * @param size maximum number of rows that `read` returns
 * @param read reads the rows whose number is higher than `after`
 */
export async function* inPages<Key extends string, Row extends Readonly<Record<Key, number>>>(
  key: Key,
  size: number,
  read: (after: number) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after = -1; ;) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = last[key];
  }
}
