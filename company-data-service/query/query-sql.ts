/** Converts queries and orders to SQL, with every value as a parameter. */
import { sql, type RawBuilder } from 'kysely';
import type { FieldKind, FieldKinds, Order, Test } from './fields';
import type { Condition, Operator } from './parse-query';

/** Returns the SQL expression of a field; its type matches the field's kind (text, numeric, boolean, timestamptz). */
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

/** A field without a value is not like anything and differs from everything. */
function testSql({ operator, value, fieldKind }: Test, field: RawBuilder<unknown>): RawBuilder<boolean> {
  if (operator === '~') return sql`coalesce(strpos(lower(${field}), lower(${value})) > 0, false)`;
  // Collation "C", so that the order does not depend on the database's locale.
  const collation = fieldKind === 'text' ? sql`collate "C"` : sql``;
  return sql`coalesce(${field} ${COMPARISONS[operator]} ${value}::${TYPES[fieldKind]} ${collation}, false)`;
}

/** Returns the part of ORDER BY before the list's own order; empty without an order. */
export function orderSql(order: Order | undefined, place: Place): RawBuilder<unknown> {
  if (!order) return sql``;
  const collation = order.fieldKind === 'text' ? sql`collate "C"` : sql``;
  const direction = order.direction === 'ascending' ? sql`asc` : sql`desc`;
  return sql`${place(order.field)} ${collation} ${direction} nulls last,`;
}

/** The fields of a list that are columns, by their names in the API. */
export type Columns = Readonly<Record<string, { readonly kind: FieldKind; readonly place: RawBuilder<unknown> }>>;

export function kindsOf(columns: Columns): FieldKinds {
  return (field) => (Object.hasOwn(columns, field) ? columns[field]?.kind : undefined);
}

/** The fields must have been checked to exist. */
export function placeIn(columns: Columns): Place {
  return (field) => {
    const column = columns[field];
    if (!column) throw new Error(`There is no column for the field ${field}`);
    return column.place;
  };
}
