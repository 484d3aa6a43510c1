/** The client's application: supplied with a decision, or found at the service by the preflight. */
import { sql } from 'kysely';
import type { DependentCompanies, Dependents } from '../../domain/preflight/dependents';
import {
  isSameApplication,
  REFERENCES_NAMED,
  type ApplicationFacts,
  type ApplicationsOfMoved,
  type MigrationApplications,
  type MovedWithApplication,
} from '../../domain/preflight/applications';
import type { ApplicationSupplied } from '../../domain/migration/decision';
import { allRows, type Database } from '../database/database';
import { readNamespace, type StoredMigration } from './migrations';

/**
 * Stores the application that is registered at the service. Called by a preflight that has found no problem with it.
 * Keeps the earlier application if the service has already accepted a credential of this migration.
 */
export async function recordApplication(
  db: Database,
  migrationId: string,
  { clientId, environment }: ApplicationFacts,
): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ application: JSON.stringify({ clientId, environment }) })
    .where('id', '=', migrationId)
    .where((migration) =>
      migration.or([
        migration('application', 'is', null),
        sql<boolean>`not exists (
          select from companies c where c.migration_id = migrations.id and c.crossed_at is not null)`,
      ]),
    )
    .execute();
}

/** An application with which companies were connected. */
export interface ApplicationInUse {
  readonly application: ApplicationFacts;
  /** The number of companies whose credentials the service has accepted. */
  readonly companies: number;
}

/**
 * Lists the applications with which companies were connected on a migration's platform and in its namespace. Includes
 * companies of all migrations, open or ended, and companies that do not count as moved. A different application must
 * not be registered for them, because the service refreshes tokens only with the application that is registered.
 */
export async function readApplicationsInUse(db: Database, migrationId: string): Promise<readonly ApplicationInUse[]> {
  return allRows<ApplicationInUse>(db)`
    select application, count(*)::integer as companies
    from company_applications
    where migration_id in (
      select m.id from migrations own
      join migrations m on m.platform_key = own.platform_key and m.namespace is not distinct from own.namespace
      where own.id = ${migrationId})
    group by application
    order by 2 desc`;
}

/**
 * Lists the migrations, open or ended, that have connected companies on a platform and in a namespace, with the
 * applications of these companies. Reads every connected company.
 *
 * @param except the migration to leave out; null for none
 */
export async function readDependentCompanies(
  db: Database,
  {
    platformKey,
    namespace,
    except,
  }: { readonly platformKey: string; readonly namespace: string | null; readonly except: string | null },
): Promise<readonly DependentCompanies[]> {
  return allRows<DependentCompanies>(db)`
    select m.id as "migrationId", m.client, m.state = 'closed' as "hasEnded", a.application,
      count(*)::integer as companies
    from company_applications a join migrations m on m.id = a.migration_id
    where m.platform_key = ${platformKey} and m.namespace is not distinct from ${namespace}::text
      and m.id is distinct from ${except}::text
    group by m.id, m.client, m.state, a.application
    order by companies desc, m.id`;
}

/**
 * Reads which other migrations on the platform and in the namespace have connected companies, and with which
 * applications. Reads none if no application is registered, or if the registered application is the supplied one,
 * because no application is then replaced.
 */
export async function readDependents(
  db: Database,
  { id, client, platformKey }: Pick<StoredMigration, 'id' | 'client' | 'platformKey'>,
  registered: ApplicationFacts | null,
  { supplied }: MigrationApplications,
): Promise<Dependents> {
  const canBeReplaced = registered !== null && (supplied === null || !isSameApplication(supplied, registered));
  const others = canBeReplaced
    ? await readDependentCompanies(db, { platformKey, namespace: await readNamespace(db, id), except: id })
    : [];
  return { client, supplied, others };
}

/**
 * Reads the applications with which companies of a migration were moved, which of them were replaced later, and which
 * application is registered now. Companies whose end customers have reconnected belong to the application that was
 * registered at that time. Reads every company: use {@link readReplacedApplications} if only replaced applications
 * matter.
 */
export async function readApplicationsOfMoved(db: Database, migrationId: string): Promise<ApplicationsOfMoved> {
  const { rows } = await sql<MovedWithApplication & { readonly lastCrossedAt: Date }>`
    select used.*, named."references"
    from (
      select application, count(*)::integer as companies, max(connected_at) as "lastCrossedAt"
      from company_applications where migration_id = ${migrationId}
      group by application) used
    -- Reads the first companies separately, because sorting all companies would take longer than counting them.
    cross join lateral (
      select array_agg(reference order by row) as "references"
      from (
        select reference, row from company_applications a
        where a.migration_id = ${migrationId} and a.application = used.application
        order by row limit ${REFERENCES_NAMED}) first) named
    order by "lastCrossedAt"`.execute(db);
  const last = rows.at(-1);
  // When a company was last connected, its application was registered. Only an application that was supplied after that
  // can have replaced it.
  const later = await readLatestSupplied(db, migrationId, last?.lastCrossedAt ?? null);
  const current = later ?? last?.application ?? null;
  const moved = rows.map(({ application, companies, references }) => ({ application, companies, references }));
  const replaced = moved.filter(({ application }) => current !== null && !isSameApplication(application, current));
  return {
    moved,
    replaced: replaced.length === 0 ? [] : await withLinksCounted(db, migrationId, replaced),
    registered:
      later?.isOwnClient === false || current === null
        ? null
        : { clientId: current.clientId, environment: current.environment },
  };
}

/** Adds to each application the number of its companies that have no link to reconnect. */
async function withLinksCounted(
  db: Database,
  migrationId: string,
  used: readonly MovedWithApplication[],
): Promise<readonly MovedWithApplication[]> {
  const { rows } = await sql<{ readonly application: ApplicationFacts; readonly withoutLink: number }>`
    select a.application, count(*)::integer as "withoutLink"
    from company_applications a join companies c on c.migration_id = a.migration_id and c.row = a.row
    where a.migration_id = ${migrationId} and c.migration_id = ${migrationId} and c.link_url is null
    group by a.application`.execute(db);
  return used.map((each) => {
    const found = rows.find(({ application }) => isSameApplication(application, each.application));
    return found ? { ...each, withoutLink: found.withoutLink } : each;
  });
}

/**
 * Reads what {@link readApplicationsOfMoved} reads, but returns null if no company depends on a replaced application.
 * For almost every migration, this reads no company, because only one application is known.
 */
export async function readReplacedApplications(db: Database, migrationId: string): Promise<ApplicationsOfMoved | null> {
  return (await hasReplacedApplication(db, migrationId)) ? readApplicationsOfMoved(db, migrationId) : null;
}

/** Returns whether companies of a migration depend on an application that was replaced. */
export async function hasReplacedApplication(db: Database, migrationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from companies
    where migration_id = ${migrationId} and ${dependsOnReplaced(migrationId)}
    order by row limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns the known applications with which companies were moved, by the company's reference. */
export async function readApplicationsByCompany(
  db: Database,
  migrationId: string,
): Promise<ReadonlyMap<string, ApplicationFacts>> {
  const { rows } = await sql<{ reference: string; application: ApplicationFacts }>`
    select reference, application from company_applications where migration_id = ${migrationId}`.execute(db);
  return new Map(rows.map(({ reference, application }) => [reference, application]));
}

/**
 * Reads the application that was supplied last on a migration's platform and in its namespace.
 *
 * @param after only applications that were supplied after this time, for any migration; if null, applications that were
 * supplied at any time, but only for this migration
 * @returns undefined if there is none
 */
async function readLatestSupplied(db: Database, migrationId: string, after: Date | null) {
  const { rows } = await sql<ApplicationFacts & { readonly isOwnClient: boolean }>`
    select a.application ->> 'clientId' as "clientId", a.application ->> 'environment' as environment,
      m.client = own.client as "isOwnClient"
    from migrations own
    join supplied_applications a
      on a.platform_key = own.platform_key and a.namespace is not distinct from own.namespace
    join migrations m on m.id = a.migration_id
    where own.id = ${migrationId}
      and case when ${after}::timestamptz is null then a.migration_id = own.id else a.at > ${after} end
    order by a.at desc, a.position desc
    limit 1`.execute(db);
  return rows[0];
}

/** The condition that the details of migration `m` have been accepted, even if they were rejected later. */
const IS_ACCEPTED = sql<boolean>`exists (
  select from decisions
  where migration_id = m.id and applied and content ->> 'kind' = 'step'
    and content ->> 'step' = 'supply-details' and content ->> 'verdict' = 'approve')`;

/**
 * Lists the other open, managed migrations of the client on a migration's platform and in its namespace whose details
 * have not been accepted yet.
 */
export async function readUnacceptedMigrations(db: Database, migrationId: string): Promise<readonly string[]> {
  const others = await allRows<{ readonly id: string }>(db)`
    select m.id
    from migrations own
    join migrations m on m.client = own.client and m.platform_key = own.platform_key
      and m.namespace is not distinct from own.namespace
    where own.id = ${migrationId} and m.id <> own.id and m.state = 'open' and m.route = 'managed' and not ${IS_ACCEPTED}
    order by m.id`;
  return others.map(({ id }) => id);
}

/**
 * Reads the applications of a migration and of the other open migrations on its platform and in its namespace, because
 * the workers of a namespace share one account.
 *
 * If the application of another managed migration was not supplied, but found by its preflight, it is included only
 * after that migration's details have been accepted. Before that, no person has confirmed the application.
 */
export async function readApplications(
  db: Database,
  { id, client }: { readonly id: string; readonly client: string },
): Promise<MigrationApplications> {
  const { rows } = await sql<{
    id: string;
    client: string;
    supplied: ApplicationSupplied | null;
    found: ApplicationFacts | null;
  }>`
    select m.id, m.client, d.content as supplied, case when m.route = 'self-service' or ${IS_ACCEPTED} then m.application end as found
    from migrations own
    join migrations m on m.platform_key = own.platform_key and m.namespace is not distinct from own.namespace
    left join lateral (
      select content from decisions
      where migration_id = m.id and applied and content ->> 'kind' = 'application-supplied'
      order by position desc limit 1) d on true
    where own.id = ${id} and (m.id = own.id or m.state = 'open')
    order by m.id`.execute(db);
  const own = rows.find((row) => row.id === id)?.supplied;
  return {
    migrationId: id,
    client,
    supplied: own ? { clientId: own.clientId, environment: own.environment, suppliedBy: own.by } : null,
    others: rows.flatMap(({ id: migrationId, client: owner, supplied, found }) => {
      const application = supplied ?? found;
      if (migrationId === id || !application) return [];
      const { clientId, environment } = application;
      const isSupplied = supplied !== null;
      return [{ migrationId, client: owner, application: { clientId, environment }, isSupplied }];
    }),
  };
}

/**
 * Builds the condition that a company of this migration was last connected with an application that was replaced later.
 * The condition uses the columns of a table of companies without a qualifier. Postgres computes the times of the
 * replaced applications once per statement. As a filter, the condition reads no company if no application was replaced.
 */
export function dependsOnReplaced(migrationId: string) {
  const times = (which: 'crossed' | 'authorized') =>
    sql`(select ${sql.ref(which)} from times_of_replaced_applications(${migrationId}))`;
  return sql<boolean>`(
    (select not isempty(crossed + authorized) from times_of_replaced_applications(${migrationId}))
    and depends_on_replaced(crossed_at, authorized_at, ${times('crossed')}, ${times('authorized')}))`;
}
