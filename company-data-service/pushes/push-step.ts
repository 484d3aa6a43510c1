/**
 * Processes the push operations that are due: sends each record to the platform, or asks for the result, and stores the
 * response. A crash leaves the operation unchanged, so its record is sent again. The platform recognizes the record by
 * its key.
 */
import { sql } from 'kysely';
import { GRANT_COLUMNS, GRANT_TABLES, grantIn, type GrantRow } from '../credentials/grants';
import type { ConnectionStatus, PushChange, PushStatus } from '../database/tables';
import { failureForLog, type Database } from '../database/database';
import type { DataType } from '../platform/data-types';
import { PlatformInaccessible, PlatformRefusal, STATUS_OF_REFUSAL } from '../platform/platform';
import type { StepDependencies } from '../syncs/sync-step';

/** Maximum number of operations per step. */
export const PUSHES_AT_ONCE = 50;
/**
 * Maximum age of a push operation. An operation times out as soon as the platform announces that its next response will
 * come after this age.
 */
const TIMEOUT_MS = 10 * 60_000;

interface DuePush extends GrantRow {
  readonly id: string;
  readonly data_type: DataType;
  readonly record: Readonly<Record<string, unknown>>;
  readonly provider_status_code: number | null;
  readonly age_ms: number;
  readonly connection_status: ConnectionStatus;
  readonly organization_id: string;
}

interface Progress {
  readonly status: PushStatus;
  readonly statusCode: number;
  readonly providerStatusCode?: number;
  readonly errorMessage?: string;
  readonly changes?: readonly PushChange[];
  /** Milliseconds until the platform is asked next. Absent if the operation has ended. */
  readonly afterMs?: number;
}

/** Processes the push operations that are due and returns their number. */
export async function processDuePushes(dependencies: StepDependencies): Promise<number> {
  return dependencies.db.transaction().execute(async (transaction) => {
    const due = await claimDuePushes(transaction);
    await Promise.all(due.map(async (push) => store(transaction, push, await processPush(dependencies, push))));
    return due.length;
  });
}

async function claimDuePushes(transaction: Database): Promise<DuePush[]> {
  const { rows } = await sql<DuePush>`
    select
      push.id, push.data_type, push.record, push.provider_status_code,
      (extract(epoch from clock_timestamp() - push.requested_at) * 1000)::float8 as age_ms,
      connections.status as connection_status, connections.organization_id, ${GRANT_COLUMNS}
    from push_operations push
    join connections on connections.id = push.connection_id
    join companies on companies.id = push.company_id
    ${GRANT_TABLES}
    where push.due_at <= clock_timestamp()
    order by push.due_at
    limit ${PUSHES_AT_ONCE}
    for update of push skip locked`.execute(transaction);
  return rows;
}

async function processPush({ platforms, cipher, logger }: StepDependencies, push: DuePush): Promise<Progress> {
  try {
    const grant = push.connection_status === 'Linked' ? grantIn(push, cipher) : undefined;
    if (!grant) return failed(401, 'The connection is not linked.');
    const answer = await platforms.push(grant, push.organization_id, {
      key: push.id,
      dataType: push.data_type,
      record: push.record,
      accepted: push.provider_status_code !== null,
    });
    if ('recordId' in answer) {
      const changes: PushChange[] = [{ type: 'Created', recordRef: { id: answer.recordId, dataType: push.data_type } }];
      return { status: 'Success', statusCode: 200, providerStatusCode: answer.statusCode, changes };
    }
    if (push.age_ms + answer.afterMs > TIMEOUT_MS) {
      return { status: 'TimedOut', statusCode: 504, providerStatusCode: answer.statusCode, errorMessage: TOO_SLOW };
    }
    return { status: 'Pending', statusCode: 202, providerStatusCode: answer.statusCode, afterMs: answer.afterMs };
  } catch (thrown) {
    if (thrown instanceof PlatformRefusal) return failed(STATUS_OF_REFUSAL[thrown.reason], thrown.message, true);
    if (thrown instanceof PlatformInaccessible) return failed(403, thrown.message, true);
    logger.error({ err: failureForLog(thrown), pushOperationKey: push.id }, 'a push operation failed');
    return failed(500, 'The push operation failed.');
  }
}

const TOO_SLOW = 'The platform did not finish in time.';

function failed(statusCode: number, errorMessage: string, byProvider = false): Progress {
  return { status: 'Failed', statusCode, errorMessage, ...(byProvider && { providerStatusCode: statusCode }) };
}

async function store(transaction: Database, { id }: DuePush, progress: Progress): Promise<void> {
  const { status, statusCode, providerStatusCode = null, errorMessage = null, changes = [], afterMs = null } = progress;
  await sql`
    update push_operations set
      status = ${status}, status_code = ${statusCode}, error_message = ${errorMessage}, changes = ${JSON.stringify(changes)},
      provider_status_code = coalesce(${providerStatusCode}::int, provider_status_code),
      due_at = clock_timestamp() + ${afterMs}::float8 * interval '1 millisecond',
      completed_at = case when ${afterMs}::float8 is null then clock_timestamp() end
    where id = ${id}`.execute(transaction);
}
