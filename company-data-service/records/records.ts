/** The records of data sets in Postgres. */
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database';
import { DATA_TYPES, type DataType } from '../platform/data-types';
import { RECORD_SCHEMAS } from '../platform/record-schemas';
import { fieldsOf, type FieldKindOf } from '../query/fields';
import type { ListRequest, PageBounds, PageItems } from '../query/lists';
import { conditionSql, orderSql } from '../query/query-sql';

/** A filter that a record passes if its field equals the value. */
export interface FieldFilter {
  readonly field: string;
  readonly value: string | number | boolean;
}

type StoredRecord = Record<string, unknown> & { id: string; modifiedDate: string };

export interface RecordQuery extends ListRequest {
  readonly companyId: string;
  readonly dataType: DataType;
  readonly filters: readonly FieldFilter[];
}

export async function listRecords(
  db: Database,
  { companyId, dataType, filters, condition, order }: RecordQuery,
  { limit, offset }: PageBounds,
): Promise<PageItems<StoredRecord>> {
  const fieldSql = (field: string) => recordField(dataType, field);
  const filter = sql`company_id = ${companyId} and data_type = ${dataType}
    and fields @> ${JSON.stringify(Object.fromEntries(filters.map(({ field, value }) => [field, value])))}::jsonb
    ${condition ? sql`and ${conditionSql(condition, fieldSql)}` : sql``}`;
  const count = await sql<{ total: number }>`select count(*)::int as total from records where ${filter}`.execute(db);
  const total = count.rows[0]?.total ?? 0;
  if (offset >= total) return { items: [], total };
  const { rows } = await sql<{ fields: StoredRecord }>`
    select fields from records where ${filter}
    order by ${orderSql(order, fieldSql)} created_at, id limit ${limit} offset ${offset}`.execute(db);
  return { items: rows.map(({ fields }) => fields), total };
}

/**
 * Returns the function that looks up the kind of a record's field. Records can be sorted, and filtered with `query`, by
 * every field that has a kind.
 */
export function fieldKindOf(dataType: DataType): FieldKindOf {
  return FIELDS[dataType];
}

const FIELDS = Object.fromEntries(
  DATA_TYPES.map((dataType) => [dataType, fieldsOf(RECORD_SCHEMAS[dataType])]),
) as Record<DataType, FieldKindOf>;

function recordField(dataType: DataType, field: string): RawBuilder<unknown> {
  const text = sql`(fields #>> ${field.split('.')}::text[])`;
  switch (FIELDS[dataType](field)) {
    case 'number':
      return sql`${text}::numeric`;
    case 'boolean':
      return sql`${text}::boolean`;
    case 'date':
      return sql`${text}::timestamptz`;
    default:
      return text;
  }
}

export async function findRecord(
  db: Database,
  { companyId, dataType, id }: { companyId: string; dataType: DataType; id: string },
): Promise<StoredRecord | undefined> {
  const { rows } = await sql<{ fields: StoredRecord }>`
    select records.fields from connections join records on records.connection_id = connections.id
    where connections.company_id = ${companyId} and records.data_type = ${dataType} and records.id = ${id}`.execute(db);
  return rows[0]?.fields;
}
