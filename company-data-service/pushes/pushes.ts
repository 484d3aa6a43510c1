/** Push operations in Postgres. Each one contains a record that the service sends to a platform (push-step.ts). */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { PushChange, PushStatus } from '../database/tables';
import { requestedList } from '../query/lists';
import { kindsOf, type Columns } from '../query/query-sql';
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

export const listPushes = requestedList<Push>(sql`push_operations`, COLUMNS);

export async function findPush(db: Database, companyId: string, id: string): Promise<Push | undefined> {
  return db
    .selectFrom('push_operations')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('id', '=', id)
    .executeTakeFirst();
}
