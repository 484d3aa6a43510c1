import { BrokenPaging } from './errors';
import type { Page } from './schemas';

/** How often a list is read again because results vanished while it was read. */
const MAX_REREADS = 5;

/** Where the pages of one list come from. */
export interface PageSource<T> {
  /** Names the list in errors. */
  readonly call: string;
  readonly firstPath: string;
  readPage(path: string): Promise<Page<T>>;
  /** The path that a link on the page of `currentPath` leads to; `undefined` when it leads away from the service. */
  follow(currentPath: string, href: string): string | undefined;
  idOf(result: T): string;
}

/**
 * Every result of a list, each once, by following the links from page to page.
 *
 * A result that moves to a later page is given once. When the total shrinks on the way, results may have moved to a
 * page that was read before they did: then the list is read again, and gives what is new.
 * @throws {BrokenPaging} when the links do not lead to an end, or away from the service.
 */
export async function* eachResult<T>(source: PageSource<T>): AsyncGenerator<T, void, undefined> {
  const given = new Set<string>();
  for (let reread = 0; reread <= MAX_REREADS; reread += 1) {
    let total = 0;
    let shrank = false;
    for await (const page of pages(source)) {
      shrank ||= page.totalResults < total;
      total = page.totalResults;
      for (const result of page.results) {
        const id = source.idOf(result);
        if (given.has(id)) continue;
        given.add(id);
        yield result;
      }
    }
    if (!shrank) return;
  }
  throw broken(source, `results kept vanishing while the list was read ${MAX_REREADS + 1} times`);
}

/** The pages in their order, up to the one without a link to a next one. */
async function* pages<T>(source: PageSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  const seen = new Set<string>();
  let path: string | undefined = source.firstPath;
  while (path !== undefined) {
    const page: Page<T> = await source.readPage(path);
    const known = seen.size;
    for (const result of page.results) seen.add(source.idOf(result));
    yield page;
    const next = page._links.next?.href;
    if (next === undefined) return;
    if (seen.size === known) throw broken(source, `${path} has nothing new, and yet a link to a next page`);
    path = source.follow(path, next);
    if (path === undefined) throw broken(source, 'the link to the next page leads away from the service');
  }
}

const broken = ({ call }: PageSource<unknown>, what: string) => new BrokenPaging(call, 200, undefined, what);
