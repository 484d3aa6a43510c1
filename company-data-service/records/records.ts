/** The records of data sets in Postgres. */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { DataType } from '../platform/data-types';

/** One field must have one value. */
export interface FieldFilter {
  readonly field: string;
  readonly value: string | number | boolean;
}

type StoredRecord = Record<string, unknown> & { id: string; modifiedDate: string };

export interface RecordQuery {
  readonly companyId: string;
  readonly dataType: DataType;
  readonly filters: readonly FieldFilter[];
}

export async function listRecords(
  db: Database,
  { companyId, dataType, filters }: RecordQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: readonly StoredRecord[]; total: number }> {
  const wanted = sql`company_id = ${companyId} and data_type = ${dataType}
    and fields @> ${JSON.stringify(Object.fromEntries(filters.map(({ field, value }) => [field, value])))}::jsonb`;
  const count = await sql<{ total: number }>`select count(*)::int as total from records where ${wanted}`.execute(db);
  const total = count.rows[0]?.total ?? 0;
  if (offset >= total) return { items: [], total };
  const { rows } = await sql<{ fields: StoredRecord }>`
    select fields from records where ${wanted} order by created_at, id limit ${limit} offset ${offset}`.execute(db);
  return { items: rows.map(({ fields }) => fields), total };
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
