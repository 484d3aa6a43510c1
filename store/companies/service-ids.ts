/** Finds companies of the ledger by their ids at the Company Data Service. */
import { sql } from 'kysely';
import type { Database } from '../database/database';

/** Returns the references of the companies with these ids at the service, by id. Omits unknown ids. */
export async function readReferences(
  db: Database,
  migrationId: string,
  serviceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (serviceIds.length === 0) return new Map();
  const companies = await db
    .selectFrom('companies')
    .select(['reference', sql<string>`company_id::text`.as('id')])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`company_id = any(${serviceIds}::uuid[])`)
    .execute();
  return new Map(companies.map(({ id, reference }) => [id, reference]));
}
