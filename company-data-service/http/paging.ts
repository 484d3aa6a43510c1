import type { Paging } from './schemas/common';

/** A part of a list, and how long the whole list is. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Where a page begins and how many it may hold. */
export function window({ page, pageSize }: Paging): { limit: number; offset: number } {
  return { limit: pageSize, offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER) };
}

/**
 * The paged list object of the specification.
 *
 * @param path the list's path, relative to the base URL
 * @param query the request's parameters: page and page size are stated as they took effect, all others are kept
 */
export function pageResponse<Item>(
  path: string,
  query: Paging & Readonly<Record<string, unknown>>,
  { items, total }: Slice<Item>,
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
