/** Converts queries and sort orders to SQL. Every value is a parameter. */
import { sql, type RawBuilder } from 'kysely';
import type { FieldKind, FieldKindOf, Order, TypedComparison } from './fields';
import type { Condition, Operator } from './parse-query';

/** Returns the SQL expression of a field; its type matches the field's kind (text, numeric, boolean, timestamptz). */
export type FieldSql = (field: string) => RawBuilder<unknown>;

export function conditionSql(condition: Condition<TypedComparison>, fieldSql: FieldSql): RawBuilder<boolean> {
  if (condition.kind === 'test') return testSql(condition, fieldSql(condition.field));
  const parts = condition.conditions.map((part) => conditionSql(part, fieldSql));
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

const TYPES: Record<TypedComparison['fieldKind'], RawBuilder<unknown>> = {
  text: sql`text`,
  number: sql`numeric`,
  boolean: sql`boolean`,
  date: sql`timestamptz`,
};

/** Returns the SQL of one comparison. A field without a value passes only `!=`. */
function testSql({ operator, value, fieldKind }: TypedComparison, field: RawBuilder<unknown>): RawBuilder<boolean> {
  if (operator === '~') return sql`coalesce(strpos(lower(${field}), lower(${value})) > 0, false)`;
  // Use collation "C", so that the order does not depend on the database's locale.
  const collation = fieldKind === 'text' ? sql`collate "C"` : sql``;
  return sql`coalesce(${field} ${COMPARISONS[operator]} ${value}::${TYPES[fieldKind]} ${collation}, false)`;
}

/** Returns the first part of an ORDER BY clause, before the list's default order; empty if no order is requested. */
export function orderSql(order: Order | undefined, fieldSql: FieldSql): RawBuilder<unknown> {
  if (!order) return sql``;
  const collation = order.fieldKind === 'text' ? sql`collate "C"` : sql``;
  const direction = order.direction === 'ascending' ? sql`asc` : sql`desc`;
  return sql`${fieldSql(order.field)} ${collation} ${direction} nulls last,`;
}

/** The fields of a list that have a column, by their names in the API. */
export type Columns = Readonly<Record<string, { readonly kind: FieldKind; readonly expression: RawBuilder<unknown> }>>;

export function kindsOf(columns: Columns): FieldKindOf {
  return (field) => (Object.hasOwn(columns, field) ? columns[field]?.kind : undefined);
}

/** Returns the SQL of fields that have a column. The caller must have checked that the fields exist. */
export function columnSql(columns: Columns): FieldSql {
  return (field) => {
    const column = columns[field];
    if (!column) throw new Error(`There is no column for the field ${field}`);
    return column.expression;
  };
}
