import type { RawBuilder } from 'kysely';
import type { FieldKind, FieldKinds } from './fields';
import type { Place } from './query-sql';

/** The fields of a list that stand in columns, by the names that clients know them by. */
export type Columns = Readonly<Record<string, { readonly kind: FieldKind; readonly place: RawBuilder<unknown> }>>;

export function kindsOf(columns: Columns): FieldKinds {
  return (field) => (Object.hasOwn(columns, field) ? columns[field]?.kind : undefined);
}

/** Only for fields that were checked to exist. */
export function placeIn(columns: Columns): Place {
  return (field) => {
    const column = columns[field];
    if (!column) throw new Error(`There is no column for the field ${field}, yet it was let through`);
    return column.place;
  };
}
