import type { PageBounds, PageItems } from '../../query/lists';
import type { Paging } from '../schemas/common';

/** Returns the offset and the maximum length of a page. */
export function pageBounds({ page, pageSize }: Paging): PageBounds {
  return { limit: pageSize, offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER) };
}

/**
 * Returns one page of a list, in the form that the specification requires.
 *
 * @param path the list's path, relative to the base URL
 * @param query the request's parameters; page and page size have their defaults applied
 */
export function pageResponse<Item>(
  path: string,
  query: Paging & Readonly<Record<string, unknown>>,
  { items, total }: PageItems<Item>,
) {
  const { page, pageSize, ...filters } = query;
  const pages = Math.ceil(total / pageSize);
  const link = (number: number) => ({ href: `${path}?${parameters({ page: number, pageSize, ...filters })}` });
  return {
    results: [...items],
    pageNumber: page,
    pageSize,
    totalResults: total,
    _links: {
      self: { href: path },
      current: link(page),
      ...(page < pages && { next: link(page + 1) }),
      ...(page > 1 && pages > 0 && { previous: link(Math.min(page - 1, pages)) }),
    },
  };
}

function parameters(values: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
}
