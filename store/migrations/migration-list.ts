/** Lists the migrations of a namespace, for people who look for a migration that Temporal no longer has. */
import { sql } from 'kysely';
import type { Ending } from '../../domain/migration/migration-state';
import type { Database } from '../database/database';

export interface ListedMigration {
  readonly migrationId: string;
  readonly state: 'supplied' | 'open' | 'closed';
  readonly ending: Ending | null;
  readonly suppliedAt: Date;
  /** Number of companies in the manifest. */
  readonly total: number;
  /** Number of companies whose outcome is final: all of them once the migration has ended. */
  readonly done: number;
  /** Number of companies that were not moved. */
  readonly failed: number;
}

/**
 * How long a stored migration counts as new. New migrations are not listed, because Temporal lists a migration only a
 * moment after it has been stored.
 */
const NEW_FOR = sql`interval '1 minute'`;

/**
 * Lists the migrations of a namespace, newest first. Leaves out migrations that were stored less than a minute ago.
 *
 * @param except the ids to leave out
 * @param limit maximum number of migrations
 */
export async function listStoredMigrations(
  db: Database,
  namespace: string,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<readonly ListedMigration[]> {
  const { rows } = await sql<ListedMigration>`
    with listed as (
      select id, state, ending, supplied_at from migrations
      where (namespace is null or namespace = ${namespace}) and id <> all(${except})
        and supplied_at < clock_timestamp() - ${NEW_FOR}
      order by supplied_at desc limit ${limit}
    )
    select listed.id as "migrationId", listed.state, ending, supplied_at as "suppliedAt",
      count(companies.reference) as total,
      count(*) filter (where listed.state = 'closed' and companies.reference is not null
        or companies.state in ('moved', 'failed', 'skipped', 'excluded')) as done,
      count(*) filter (where companies.state = 'failed'
        or listed.state = 'closed' and companies.state not in ('moved', 'skipped', 'excluded')) as failed
    from listed left join companies on migration_id = id
    group by id, listed.state, ending, supplied_at
    order by supplied_at desc`.execute(db);
  return rows;
}
