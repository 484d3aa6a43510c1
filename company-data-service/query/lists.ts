/** Lists in Postgres: their filters, orders and pages. */
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database';
import type { Order, TypedComparison } from './fields';
import type { Condition } from './parse-query';
import { columnSql, conditionSql, orderSql, type Columns } from './query-sql';

/** The filter and the order of a list. */
export interface ListRequest {
  readonly condition?: Condition<TypedComparison>;
  readonly order?: Order;
}

/** The maximum length of a page, and the number of items before it. */
export interface PageBounds {
  readonly limit: number;
  readonly offset: number;
}

/** The items of one page, and the length of the complete list. */
export interface PageItems<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * Returns a function that reads a page of a company's syncs or pushes, by default in the order in which they were
 * requested.
 */
export function requestedList<Row>(table: RawBuilder<unknown>, columns: Columns) {
  const fieldSql = columnSql(columns);
  return async (
    db: Database,
    { companyId, condition, order }: ListRequest & { readonly companyId: string },
    { limit, offset }: PageBounds,
  ): Promise<PageItems<Row>> => {
    const filter = sql`company_id = ${companyId} ${condition ? sql`and ${conditionSql(condition, fieldSql)}` : sql``}`;
    const from = sql`from ${table} where ${filter}`;
    const count = await sql<{ total: number }>`select count(*)::int as total ${from}`.execute(db);
    const { rows } = await sql<Row>`
      select * ${from} order by ${orderSql(order, fieldSql)} requested_at, id limit ${limit} offset ${offset}`.execute(
      db,
    );
    return { items: rows, total: count.rows[0]?.total ?? 0 };
  };
}
