/** Queries and orders as SQL, every value as a parameter. */
import { sql, type RawBuilder } from 'kysely';
import type { Order, Test } from './fields';
import type { Condition, Operator } from './parse-query';

/** Where a field stands: an expression of the type that goes with its kind (text, numeric, boolean, timestamptz). */
export type Place = (field: string) => RawBuilder<unknown>;

export function conditionSql(condition: Condition<Test>, place: Place): RawBuilder<boolean> {
  if (condition.kind === 'test') return testSql(condition, place(condition.field));
  const parts = condition.conditions.map((part) => conditionSql(part, place));
  return sql`(${sql.join(parts, condition.kind === 'all' ? sql` and ` : sql` or `)})`;
}

const COMPARISONS: Record<Exclude<Operator, '~'>, RawBuilder<unknown>> = {
  '=': sql`=`,
  '!=': sql`is distinct from`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
};

const TYPES: Record<Test['fieldKind'], RawBuilder<unknown>> = {
  text: sql`text`,
  number: sql`numeric`,
  boolean: sql`boolean`,
  date: sql`timestamptz`,
};

/** A field without a value is like nothing, and different from everything. */
function testSql({ operator, value, fieldKind }: Test, field: RawBuilder<unknown>): RawBuilder<boolean> {
  if (operator === '~') return sql`coalesce(strpos(lower(${field}), lower(${value})) > 0, false)`;
  // Texts by their characters' numbers, whatever the database's language.
  const collation = fieldKind === 'text' ? sql`collate "C"` : sql``;
  return sql`coalesce(${field} ${COMPARISONS[operator]} ${value}::${TYPES[fieldKind]} ${collation}, false)`;
}

/** What comes before the list's own order; empty without an order. */
export function orderSql(order: Order | undefined, place: Place): RawBuilder<unknown> {
  if (!order) return sql``;
  const collation = order.fieldKind === 'text' ? sql`collate "C"` : sql``;
  const direction = order.direction === 'ascending' ? sql`asc` : sql`desc`;
  return sql`${place(order.field)} ${collation} ${direction} nulls last,`;
}
