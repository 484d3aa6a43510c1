/** Reads lists page by page. */
import { BrokenPaging } from './errors';
import type { Page } from './schemas';

/** The maximum number of times a list is read again because its total shrank while it was being read. */
const MAX_REREADS = 5;
/** The maximum number of pages of one list. With the service's default page size, they hold a million results. */
const MAX_PAGES = 10_000;

/** How to read one list. */
export interface PageSource<T> {
  /** Method and path, which identify the list in errors. */
  readonly call: string;
  readonly firstPath: string;
  readPage(path: string): Promise<Page<T>>;
  /**
   * Resolves a link on the page at `currentPath`. Returns undefined if the link is invalid or leaves the list.
   */
  follow(currentPath: string, href: string): string | undefined;
  idOf(result: T): string;
}

/**
 * Yields every result of a list exactly once, following the links from page to page.
 *
 * Results are deduplicated by id, because a result can move to a later page while the list is being read. If the total
 * shrinks, a result might have moved to a page that has already been read. The list is then read again, and results
 * that were missed are yielded.
 *
 * @throws {BrokenPaging} if the list cannot be read to its end
 */
export async function* eachResult<T>(source: PageSource<T>): AsyncGenerator<T, void, undefined> {
  const yielded = new Set<string>();
  for (let reread = 0; reread <= MAX_REREADS; reread += 1) {
    let total = 0;
    let shrank = false;
    for await (const page of pages(source)) {
      shrank ||= page.totalResults < total;
      total = page.totalResults;
      for (const result of page.results) {
        const id = source.idOf(result);
        if (yielded.has(id)) continue;
        yielded.add(id);
        yield result;
      }
    }
    if (!shrank) return;
  }
  throw broken(source, `the total kept shrinking while the list was read ${MAX_REREADS + 1} times`);
}

/** Yields the pages in order, up to the page that has no link to a next page. */
async function* pages<T>(source: PageSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  const seen = new Set<string>();
  let path: string | undefined = source.firstPath;
  let received = 0;
  for (let count = 1; path !== undefined; count += 1) {
    const page: Page<T> = await source.readPage(path);
    const known = seen.size;
    received += page.results.length;
    for (const result of page.results) seen.add(source.idOf(result));
    yield page;
    const next = page._links.next?.href;
    if (next === undefined) return;
    if (seen.size === known) throw broken(source, `page ${count} has no new results but links to a next page`);
    // Once `totalResults` results have been received, the list must end.
    if (received >= page.totalResults)
      throw broken(source, `all ${page.totalResults} results were read, but there is a next page`);
    if (count >= MAX_PAGES) throw broken(source, `the list has more than ${MAX_PAGES} pages`);
    path = source.follow(path, next);
    if (path === undefined) throw broken(source, 'the link to the next page is invalid or leads out of the list');
  }
}

const broken = ({ call }: PageSource<unknown>, reason: string) => new BrokenPaging(call, 200, undefined, reason);
