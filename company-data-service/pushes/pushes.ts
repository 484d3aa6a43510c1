/** Push operations in Postgres. Each one contains a record that the service sends to a platform (push-step.ts). */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { PushChange, PushStatus } from '../database/tables';
import { kindsOf, columnSql, type Columns, conditionSql, orderSql } from '../query/query-sql';
import type { Order, TypedComparison } from '../query/fields';
import type { Condition } from '../query/parse-query';
import { WORK_CHANNEL } from '../syncs/syncs';

export interface Push {
  readonly id: string;
  readonly company_id: string;
  readonly connection_id: string;
  readonly data_type: string;
  readonly status: PushStatus;
  readonly status_code: number;
  readonly provider_status_code: number | null;
  readonly error_message: string | null;
  readonly changes: readonly PushChange[];
  readonly requested_at: Date;
  readonly completed_at: Date | null;
}

export interface NewPush {
  readonly companyId: string;
  readonly connectionId: string;
  readonly dataType: string;
  readonly record: Readonly<Record<string, unknown>>;
}

export async function insertPush(db: Database, { companyId, connectionId, dataType, record }: NewPush): Promise<Push> {
  const push = await db
    .insertInto('push_operations')
    .values({
      company_id: companyId,
      connection_id: connectionId,
      data_type: dataType,
      record: JSON.stringify(record),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await sql`select pg_notify(${WORK_CHANNEL}, '')`.execute(db);
  return push;
}

const COLUMNS: Columns = {
  pushOperationKey: { kind: 'text', expression: sql`id::text` },
  dataConnectionKey: { kind: 'text', expression: sql`connection_id::text` },
  dataType: { kind: 'text', expression: sql`data_type` },
  status: { kind: 'text', expression: sql`status` },
  requestedOnUtc: { kind: 'date', expression: sql`requested_at` },
  completedOnUtc: { kind: 'date', expression: sql`completed_at` },
};

/** The fields by which push operations can be filtered and sorted. */
export const pushFields = kindsOf(COLUMNS);

export interface PushQuery {
  readonly companyId: string;
  readonly condition?: Condition<TypedComparison>;
  readonly order?: Order;
}

export async function listPushes(
  db: Database,
  { companyId, condition, order }: PushQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: readonly Push[]; total: number }> {
  const fieldSql = columnSql(COLUMNS);
  const filter = sql`company_id = ${companyId} ${condition ? sql`and ${conditionSql(condition, fieldSql)}` : sql``}`;
  const count = await sql<{
    total: number;
  }>`select count(*)::int as total from push_operations where ${filter}`.execute(db);
  const { rows } = await sql<Push>`
    select * from push_operations where ${filter}
    order by ${orderSql(order, fieldSql)} requested_at, id limit ${limit} offset ${offset}`.execute(db);
  return { items: rows, total: count.rows[0]?.total ?? 0 };
}

export async function findPush(db: Database, companyId: string, id: string): Promise<Push | undefined> {
  return db
    .selectFrom('push_operations')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('id', '=', id)
    .executeTakeFirst();
}
