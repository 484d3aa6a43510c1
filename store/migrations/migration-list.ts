/** Lists the migrations of a namespace, for people who look for a migration that Temporal no longer has. */
import { sql, type RawBuilder } from 'kysely';
import type { Ending } from '../../domain/migration/migration-state';
import { allRows, type Database } from '../database/database';

/** A migration in the ledger, with the counts that `ferry list` shows. */
export interface StoredMigrationCounts {
  readonly migrationId: string;
  readonly state: 'supplied' | 'open' | 'closed';
  readonly ending: Ending | null;
  readonly suppliedAt: Date;
  /** Number of companies in the manifest. */
  readonly total: number;
  /** Companies with a final outcome. Once the migration has ended, all that are not importing or syncing. */
  readonly done: number;
  /** Failed companies. Once the migration has ended, also those that are waiting or have an unknown outcome. */
  readonly failed: number;
}

/**
 * How long a stored migration counts as new. New migrations are not listed: Temporal lists a migration only a moment
 * after it has been stored, and until then, `ferry list` would show it as missing in Temporal.
 */
const NEW_FOR = sql`interval '1 minute'`;

/**
 * Counts the companies of each migration in a query that groups them by migration.
 *
 * @param isOver the condition that no company of the migration moves any more. Companies that are waiting, or whose
 *   outcome is unknown, then count as not moved, so they are done as well
 */
const companyCounts = (isOver: RawBuilder<unknown>) => sql`
  count(companies.reference) as total,
  count(*) filter (where companies.state in ('moved', 'failed', 'skipped', 'excluded')
    or (${isOver}) and companies.state not in ('importing', 'syncing')) as done,
  count(*) filter (where companies.state = 'failed'
    or (${isOver}) and companies.state in ('waiting', 'outcome-unknown')) as failed`;

/** How many companies of a migration are done, and how many were not moved. */
export type ResultInLedger = Pick<StoredMigrationCounts, 'migrationId' | 'ending' | 'total' | 'done' | 'failed'>;

/**
 * Counts the companies of migrations whose workflows have ended in Temporal, in one statement. No company of theirs
 * moves any more. Omits migrations that the ledger does not have.
 */
export async function readResults(db: Database, migrationIds: readonly string[]): Promise<readonly ResultInLedger[]> {
  return readCounts(db, migrationIds, sql`true`);
}

/** Counts the companies of running migrations, in one statement. Omits migrations that the ledger does not have. */
export async function readRunningCounts(
  db: Database,
  migrationIds: readonly string[],
): Promise<readonly ResultInLedger[]> {
  return readCounts(db, migrationIds, sql`false`);
}

async function readCounts(
  db: Database,
  migrationIds: readonly string[],
  isOver: RawBuilder<unknown>,
): Promise<readonly ResultInLedger[]> {
  if (migrationIds.length === 0) return [];
  return allRows<ResultInLedger>(db)`
    select id as "migrationId", ending, ${companyCounts(isOver)}
    from migrations left join companies on migration_id = id
    where id = any(${migrationIds})
    group by id`;
}

/**
 * Lists the migrations of a namespace, newest first. Leaves out migrations that were stored less than a minute ago.
 *
 * @param except the ids to leave out
 * @param client only the migrations of this client; undefined for all clients
 * @param limit maximum number of migrations
 */
export async function listStoredMigrations(
  db: Database,
  namespace: string,
  {
    except,
    client,
    limit,
  }: { readonly except: readonly string[]; readonly client?: string | undefined; readonly limit: number },
): Promise<readonly StoredMigrationCounts[]> {
  return allRows<StoredMigrationCounts>(db)`
    with listed as (
      select id, state, ending, supplied_at from migrations
      where (namespace is null or namespace = ${namespace}) and id <> all(${except})
        and supplied_at < clock_timestamp() - ${NEW_FOR}
        and (${client ?? null}::text is null or client = ${client ?? null})
      order by supplied_at desc limit ${limit}
    )
    select listed.id as "migrationId", listed.state, ending, supplied_at as "suppliedAt",
      ${companyCounts(sql`listed.state = 'closed'`)}
    from listed left join companies on migration_id = id
    group by id, listed.state, ending, supplied_at
    order by supplied_at desc`;
}
