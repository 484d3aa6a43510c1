/** Connections in Postgres. They are read with their company: see `findCompany`. */
import { sql } from 'kysely';
import { findPlatform, type Platform as PlatformEntry } from '../../platforms/platforms';
import type { Connection } from '../companies/companies';
import type { Database } from '../database/database';
import type { ConnectionError } from '../database/tables';
import { dataTypesOf } from '../platform/data-types';
import { STATUS_OF_REFUSAL, type RefusalReason } from '../platform/platform';

/** Maximum number of errors kept per connection. */
const ERRORS_KEPT = 20;

export async function insertConnection(db: Database, companyId: string, platform: PlatformEntry): Promise<Connection> {
  const row = await db
    .insertInto('connections')
    .values({ company_id: companyId, platform_key: platform.key, data_types: [...dataTypesOf(platform)] })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, created_at: row.created_at.toISOString(), last_sync: null, authorized_at: null };
}

/**
 * Ends the service's access to the platform by deleting the credential, and cancels the syncs that are queued or in
 * progress. Synced data stays readable.
 */
export async function unlinkConnection(transaction: Database, id: string): Promise<void> {
  await lockConnection(transaction, id);
  await transaction
    .updateTable('syncs')
    .set({ status: 'Cancelled', due_at: null, completed_at: new Date() })
    .where('connection_id', '=', id)
    .where('due_at', 'is not', null)
    .execute();
  await transaction.updateTable('connections').set({ status: 'Unlinked' }).where('id', '=', id).execute();
  await transaction.deleteFrom('credentials').where('connection_id', '=', id).execute();
}

/** Deletes a connection with its credential and its synced data. */
export async function deleteConnection(transaction: Database, id: string): Promise<void> {
  await lockConnection(transaction, id);
  // Delete the syncs first, because the sync engine also locks them first. Another order could cause a deadlock.
  await transaction.deleteFrom('syncs').where('connection_id', '=', id).execute();
  await transaction.deleteFrom('connections').where('id', '=', id).execute();
}

/**
 * Lets only one transaction at a time change a connection's authorization. This is not a row lock, because syncs, which
 * also lock and update the row, must continue while the service is waiting for the platform.
 */
export async function lockConnection(transaction: Database, id: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(transaction);
}

/** Returns a connection's errors with a new one at the end. Only the new error is active. */
export function withError(
  errors: readonly ConnectionError[],
  { reason, message }: { reason: RefusalReason; message: string },
): ConnectionError[] {
  const newest: ConnectionError = {
    statusCode: String(STATUS_OF_REFUSAL[reason]),
    statusText: reason,
    errorMessage: message,
    erroredOnUtc: new Date().toISOString(),
    status: 'Active',
  };
  return [...resolveAll(errors), newest].slice(-ERRORS_KEPT);
}

export function resolveAll(errors: readonly ConnectionError[]): ConnectionError[] {
  return errors.map((error) => ({ ...error, status: 'Resolved' }));
}

/** Returns the entry of a connection's platform in the platform table. */
export function platformOf({ platform_key }: Pick<Connection, 'platform_key'>): PlatformEntry {
  const platform = findPlatform(platform_key);
  if (!platform)
    throw new Error(`A connection belongs to platform ${platform_key}, which is not in the platform table`);
  return platform;
}
