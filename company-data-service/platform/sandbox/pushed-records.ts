/** What was pushed to the sandbox's organizations: kept in Postgres, so that every later sync finds it. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../database/database';
import type { DataType } from '../data-types';
import type { PlatformRecord } from '../platform';
import { newRecord } from './records';

/** The books that a record is pushed to. As what they hold depends on the grant, so does what was pushed to them. */
export interface Books {
  readonly platformKey: string;
  readonly organizationId: string;
  /** The credential without what rotation has appended. */
  readonly root: string;
  readonly dataType: DataType;
}

/** Keeps a record, completed as the platform does it. Under a key that is known nothing is kept again. */
export async function keepPushed(
  db: Database,
  { platformKey, organizationId, root, dataType }: Books,
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
      grant_digest: digest(root),
      data_type: dataType,
      created_at: createdAt,
      fields: JSON.stringify(fields),
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** How many records were pushed to each of the books, in their order: the syncs of a step all ask at once. */
export async function countPushed(db: Database, books: readonly Books[]): Promise<readonly number[]> {
  const asked = books.map(({ root, ...rest }, place) => ({ ...rest, place, digest: digest(root).toString('hex') }));
  const { rows } = await sql<{ count: number }>`
    select (
      select count(*)::int from sandbox_records
      where platform_key = books."platformKey" and organization_id = books."organizationId"
        and grant_digest = decode(books.digest, 'hex') and data_type = books."dataType"
    ) as count
    from json_to_recordset(${JSON.stringify(asked)}::json) as books (
      place integer, "platformKey" text, "organizationId" text, digest text, "dataType" text
    )
    order by place`.execute(db);
  return rows.map(({ count }) => count);
}

/** The records that were pushed, in the order in which they came. */
export async function readPushed(
  db: Database,
  books: Books,
  { offset, limit }: { offset: number; limit: number },
): Promise<PlatformRecord[]> {
  const { rows } = await sql<PlatformRecord>`
    select key as id, created_at as "createdAt", fields from sandbox_records
    where ${inBooks(books)} order by number offset ${offset} limit ${limit}`.execute(db);
  return rows;
}

function inBooks({ platformKey, organizationId, root, dataType }: Books) {
  return sql`platform_key = ${platformKey} and organization_id = ${organizationId}
    and grant_digest = ${digest(root)} and data_type = ${dataType}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
