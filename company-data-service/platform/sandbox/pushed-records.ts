/** Records pushed to the sandbox's organizations, kept in Postgres so that later syncs contain them. */
import { sql } from 'kysely';
import type { Database } from '../../database/database';
import { sha256 } from '../../digests';
import type { PageBounds } from '../../query/lists';
import type { DataType } from '../data-types';
import type { PlatformRecord } from '../platform';
import { newRecord } from './records';

/**
 * The data set that a record is pushed to, in the books of one organization. Another grant for the same organization
 * does not see the pushed records.
 */
export interface DataSetRef {
  readonly platformKey: string;
  readonly organizationId: string;
  /** The credential without the rotation suffix. */
  readonly root: string;
  readonly dataType: DataType;
}

/** Stores a record with the fields that the platform adds. Does nothing if the key is already stored. */
export async function storePushed(
  db: Database,
  { platformKey, organizationId, root, dataType }: DataSetRef,
  { key, index, record }: { key: string; index: number; record: Readonly<Record<string, unknown>> },
): Promise<void> {
  const createdAt = new Date();
  const fields = newRecord(dataType, { organizationId, index, id: key, createdAt }, record);
  await db
    .insertInto('sandbox_records')
    .values({
      key,
      platform_key: platformKey,
      organization_id: organizationId,
      grant_digest: sha256(root),
      data_type: dataType,
      created_at: createdAt,
      fields: JSON.stringify(fields),
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** Counts the records pushed to each data set, in one query for all syncs that the sync engine advances together. */
export async function countPushed(db: Database, dataSets: readonly DataSetRef[]): Promise<readonly number[]> {
  const numbered = dataSets.map(({ root, ...rest }, place) => ({
    ...rest,
    place,
    digest: sha256(root).toString('hex'),
  }));
  const { rows } = await sql<{ count: number }>`
    select (
      select count(*)::int from sandbox_records
      where platform_key = dataSets."platformKey" and organization_id = dataSets."organizationId"
        and grant_digest = decode(dataSets.digest, 'hex') and data_type = dataSets."dataType"
    ) as count
    from json_to_recordset(${JSON.stringify(numbered)}::json) as dataSets (
      place integer, "platformKey" text, "organizationId" text, digest text, "dataType" text
    )
    order by place`.execute(db);
  return rows.map(({ count }) => count);
}

/** Returns the pushed records, oldest first. */
export async function readPushed(
  db: Database,
  dataSet: DataSetRef,
  { offset, limit }: PageBounds,
): Promise<PlatformRecord[]> {
  const { rows } = await sql<PlatformRecord>`
    select key as id, created_at as "createdAt", fields from sandbox_records
    where ${inBooks(dataSet)} order by number offset ${offset} limit ${limit}`.execute(db);
  return rows;
}

function inBooks({ platformKey, organizationId, root, dataType }: DataSetRef) {
  return sql`platform_key = ${platformKey} and organization_id = ${organizationId}
    and grant_digest = ${sha256(root)} and data_type = ${dataType}`;
}
