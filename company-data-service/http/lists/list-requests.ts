import { z } from 'zod';
import { checkQuery, parseOrder, type FieldKindOf } from '../../query/fields';
import type { ListRequest } from '../../query/lists';
import { parseQuery, QueryError } from '../../query/parse-query';
import { matches, sortItems } from '../../query/query-in-memory';
import { badRequest } from '../errors/errors';
import { pageResponse, pageBounds } from './paging';
import { PagingSchema } from '../schemas/common';

/** The parameters of every list. */
export const ListSchema = PagingSchema.extend({
  query: z
    .string()
    .optional()
    .describe(
      'Comparisons (`= != ~ > < >= <=`), joined by `&&` and `||`, grouped by `{}`: `status=Paid&&{amountDue>0||customerRef.name~acme}`. `~` means: contains, ignoring case.',
    ),
  orderBy: z.string().optional().describe('A field; `-field` for descending order.'),
});

/**
 * Parses the filter and the order of a list.
 *
 * @throws ServiceError 400 with the invalid parameter
 */
export function listRequest(
  { query, orderBy }: { readonly query?: string | undefined; readonly orderBy?: string | undefined },
  kinds: FieldKindOf,
): ListRequest {
  return {
    ...(query && { condition: read('query', () => checkQuery(parseQuery(query), kinds)) }),
    ...(orderBy && { order: read('orderBy', () => parseOrder(orderBy, kinds)) }),
  };
}

/** Returns a page of a list that is in memory. */
export function pageOfItems<Item extends Readonly<Record<string, unknown>>>(
  path: string,
  query: z.infer<typeof ListSchema>,
  items: readonly Item[],
  kinds: FieldKindOf,
) {
  const { condition, order } = listRequest(query, kinds);
  const matching = condition ? items.filter((item) => matches(item, condition)) : items;
  const { limit, offset } = pageBounds(query);
  return pageResponse(path, query, {
    items: sortItems(matching, order).slice(offset, offset + limit),
    total: matching.length,
  });
}

function read<Result>(parameter: string, work: () => Result): Result {
  try {
    return work();
  } catch (failure) {
    if (failure instanceof QueryError)
      throw badRequest([{ itemId: parameter, message: `${parameter}: ${failure.message}` }]);
    throw failure;
  }
}
